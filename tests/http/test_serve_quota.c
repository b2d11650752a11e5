/* SPDX-License-Identifier: MIT */
/* What one client may have of a server, and what is kept for the others. */
#include "testing.h"

#include "http/events.h"
#include "http/quota.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct client user(uint32_t number)
{
    return (struct client) { .local = true, .user = number };
}

/* How many of 100 connections get a place. */
static size_t enter_often(struct quotas *quotas, uint32_t number)
{
    struct client client = user(number);
    size_t places = 0;

    for (int i = 0; i < 100; i++)
        places += quota_enter(quotas, &client) != NULL;
    return places;
}

TEST(test_connections)
{
    struct quotas *quotas = quotas_create();

    assert_int_equal(enter_often(quotas, 1), QUOTA_CONNECTIONS_EACH);
    assert_int_equal(enter_often(quotas, 1), 0);
    assert_int_equal(enter_often(quotas, 2), QUOTA_CONNECTIONS_EACH);
    /* The last ones are for those who have few. */
    for (uint32_t i = 3; i < 3 + QUOTA_CONNECTIONS_KEPT / QUOTA_CONNECTIONS_FEW; i++)
        assert_int_equal(enter_often(quotas, i), QUOTA_CONNECTIONS_FEW);
    assert_int_equal(enter_often(quotas, 99), 0); /* all places are taken */
    quotas_free(quotas);
}

/* Places are given back, and any number of clients can come one after the other. */
TEST(test_places_come_back)
{
    struct quotas *quotas = quotas_create();

    for (uint32_t i = 0; i < 5000; i++) {
        struct client client = user(i % 700);
        struct quota_client *m = quota_enter(quotas, &client);
        assert_non_null(m);
        quota_leave(quotas, m);
    }
    quotas_free(quotas);
}

static void *release_later(void *context)
{
    void *const *pair = context;

    usleep(50000);
    quota_end(pair[0], pair[1]);
    return NULL;
}

TEST(test_works)
{
    struct quotas *quotas = quotas_create();
    struct client one = user(1), two = user(2), three = user(3);
    struct quota_client *a = quota_enter(quotas, &one), *b = quota_enter(quotas, &two);
    struct quota_client *c = quota_enter(quotas, &three);
    void *pair[2] = { quotas, a };
    pthread_t helper;

    for (int i = 0; i < QUOTA_WORKS_EACH; i++)
        assert_true(quota_begin(quotas, a, 0));
    assert_false(quota_begin(quotas, a, 10));
    assert_true(quota_begin(quotas, b, 0));
    assert_true(quota_begin(quotas, b, 0));
    assert_false(quota_begin(quotas, b, 10)); /* the last one is for who has none */
    assert_true(quota_begin(quotas, c, 0));
    quota_end(quotas, c);
    pthread_create(&helper, NULL, release_later, pair);
    assert_true(quota_begin(quotas, a, 10000)); /* waits for its own earlier one */
    pthread_join(helper, NULL);
    quotas_free(quotas);
}

TEST(test_rates)
{
    struct quotas *quotas = quotas_create();
    struct client one = user(1), two = user(2);
    struct quota_client *a = quota_enter(quotas, &one), *b = quota_enter(quotas, &two);
    int waits = 0, last = 0;

    for (int i = 0; i < 4 * QUOTA_REQUESTS; i++)
        waits += (last = quota_pace_request(quotas, a)) > 0;
    assert_true(waits > 0);
    assert_true(last > 0 && last <= 4000);
    assert_int_equal(quota_pace_request(quotas, b), 0); /* the other one does not wait */
    assert_int_equal(quota_pace_bytes(quotas, a, QUOTA_BYTES), 0);
    assert_true(quota_pace_bytes(quotas, a, 3 * (size_t)QUOTA_BYTES) > 500);
    quota_leave(quotas, a);
    assert_true(quota_enter(quotas, &one) == a); /* a new connection is no new client */
    assert_true(quota_pace_bytes(quotas, a, 1) > 0);
    quotas_free(quotas);
}

/* One who opens all the streams there may be takes no other's. */
TEST(test_streams)
{
    struct events *e = events_create();
    struct events_reader *greedy[EVENTS_READERS_MAX * 2], *other;
    const char one = 0, two = 0;
    char text[256];
    size_t ended = 0;

    for (int i = 0; i < EVENTS_READERS_MAX; i++)
        greedy[i] = events_join(e, &one);
    other = events_join(e, &two);
    for (int i = EVENTS_READERS_MAX; i < EVENTS_READERS_MAX * 2; i++)
        greedy[i] = events_join(e, &one);
    assert_int_equal(events_readers(e), EVENTS_READERS_MAX);
    assert_true(events_read(other, text, sizeof(text)) > 0); /* the greeting */
    events_tell(e, 7);
    size_t nr = events_read(other, text, sizeof(text));
    assert_true(nr > 0 && strstr(text, "{\"newest\": 7}"));
    for (int i = 0; i < EVENTS_READERS_MAX * 2; i++) {
        events_read(greedy[i], text, sizeof(text));
        ended += events_read(greedy[i], text, sizeof(text)) == 0;
        events_leave(greedy[i]);
    }
    assert_int_equal(ended, EVENTS_READERS_MAX + 1);
    events_leave(other);
    events_free(e);
}

/* Another machine is its address, of IPv6 its network; an address of IPv4 is one however it comes.
 */
TEST(test_names)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "192.0.2.1", "192.0.2.1", true },          { "192.0.2.1", "192.0.2.2", false },
        { "192.0.2.1", "::ffff:192.0.2.1", true },   { "2001:db8::1", "2001:db8::ffff:2", true },
        { "2001:db8::1", "2001:db8:0:1::1", false },
    };
    const struct listening listening = { .port = 1 };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *texts[2] = { cases[i].a, cases[i].b };
        struct client clients[2];
        for (int k = 0; k < 2; k++) {
            struct sockaddr_in four = { .sin_family = AF_INET };
            struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
            bool is_four = inet_pton(AF_INET, texts[k], &four.sin_addr) == 1;
            assert_true(is_four || inet_pton(AF_INET6, texts[k], &six.sin6_addr) == 1);
            client_find(is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six, &listening,
                        &clients[k]);
            assert_false(clients[k].local);
        }
        if (client_same(&clients[0], &clients[1]) != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

/* Over real sockets: the user who made the other end. */
TEST(test_users)
{
    static const struct {
        const char *at, *to;
        bool six;
    } cases[] = {
        { "127.0.0.1", "127.0.0.1", false },
        { "127.0.0.5", "127.0.0.5", false },
        { "0.0.0.0", "127.0.0.1", false },
        { "::1", "::1", true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sockaddr_in four = { .sin_family = AF_INET };
        struct sockaddr_in6 six = { .sin6_family = AF_INET6 }, peer;
        struct sockaddr *own = cases[i].six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
        socklen_t size = sizeof(peer);
        struct listening listening;
        struct client client;
        struct error err;

        if (listen_open(cases[i].at, 0, &listening, &err)) {
            print_message("skipped: %s\n", err.message);
            continue;
        }
        four.sin_port = six.sin6_port = htons((in_port_t)listening.port);
        inet_pton(AF_INET, cases[i].to, &four.sin_addr);
        inet_pton(AF_INET6, cases[i].to, &six.sin6_addr);
        int fd = socket(own->sa_family, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, own, cases[i].six ? sizeof(six) : sizeof(four)), 0);
        int accepted = accept(listening.fd, (struct sockaddr *)&peer, &size);
        assert_true(accepted >= 0);
        client_find((struct sockaddr *)&peer, &listening, &client);
        assert_true(client.local);
        if (client.unknown)
            print_message("skipped: this system does not tell whose a socket is\n");
        else
            assert_int_equal(client.user, geteuid());
        close(accepted);
        close(fd);
        close(listening.fd);
    }
}

RUN_TESTS(NULL, NULL)
