/* SPDX-License-Identifier: MIT */
#include "http/client.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { NETWORK_BYTES = 8 }; /* of an IPv6 address: whoever has one has all that begin alike */

struct problem {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

/* An address of IPv4 may come as one of IPv6 that stands for it. */
static bool client_is_four(const struct sockaddr *peer, struct in_addr *four)
{
    if (peer->sa_family == AF_INET) {
        *four = ((const struct sockaddr_in *)(const void *)peer)->sin_addr;
        return true;
    }
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(six))
        return false;
    memcpy(four, six->s6_addr + 12, sizeof(*four));
    return true;
}

/* Its end of the connection: the socket from there to here. */
static void client_describe(const struct sockaddr *peer, const struct listening *listening,
                            struct problem *q)
{
    struct inet_diag_sockid *id = &q->body.id;
    struct in_addr four;

    *q = (struct problem) {
        .head = { .nlmsg_len = sizeof(*q),
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST },
        .body = { .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U },
    };
    id->idiag_dport = htons((in_port_t)listening->port);
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (client_is_four(peer, &four)) {
        q->body.sdiag_family = AF_INET;
        memcpy(id->idiag_src, &four, sizeof(four));
        if (inet_pton(AF_INET, listening->host, id->idiag_dst) != 1)
            id->idiag_dst[0] = htonl(INADDR_LOOPBACK);
    } else {
        q->body.sdiag_family = AF_INET6;
        memcpy(id->idiag_src, &in6addr_loopback, sizeof(in6addr_loopback));
        memcpy(id->idiag_dst, &in6addr_loopback, sizeof(in6addr_loopback));
    }
    /* Both kinds of address have the port at the same place. */
    id->idiag_sport = ((const struct sockaddr_in *)(const void *)peer)->sin_port;
}

static bool client_ask(const struct problem *q, uint32_t *user)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg body;
        char more[512];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd < 0)
        return false;
    bool sent = send(fd, q, sizeof(*q), 0) == (ssize_t)sizeof(*q);
    /* The answer is there when send() returns. */
    ssize_t length = sent ? recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) : -1;
    close(fd);
    if (length < (ssize_t)(sizeof(answer.head) + sizeof(answer.body)) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    *user = answer.body.idiag_uid;
    return true;
}

void client_find(const struct sockaddr *peer, const struct listening *listening,
                 struct client *client)
{
    struct problem question;
    struct in_addr four;

    *client = (struct client) { .local = false };
    if (client_is_four(peer, &four)) {
        client->local = ntohl(four.s_addr) >> 24 == 127;
        memcpy(client->address, &four, sizeof(four));
    } else {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
        client->local = IN6_IS_ADDR_LOOPBACK(six);
        memcpy(client->address, six, NETWORK_BYTES);
    }
    if (!client->local)
        return;
    memset(client->address, 0, sizeof(client->address));
    client_describe(peer, listening, &question);
    client->unknown = !client_ask(&question, &client->user);
}

bool client_same(const struct client *a, const struct client *b)
{
    if (a->local != b->local || a->unknown != b->unknown)
        return false;
    return a->local ? a->user == b->user : memcmp(a->address, b->address, sizeof(a->address)) == 0;
}
