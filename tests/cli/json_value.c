/* SPDX-License-Identifier: MIT */
/*
 * json_value --value|--length FILE KEY...: what json.cmake prints of a JSON file, of which tests
 * ask thousands of times: CMake takes fifteen times as long, most of it to start. Exit status 3,
 * and nothing said: json.cmake knows more. So it is with arrays, objects, what is not there, whole
 * numbers that a double does not hold, and files that are no JSON.
 */
#include <cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_CMAKE = 3 };

static char *content_of(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (f && getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static const cJSON *item_of(const cJSON *json, const char *key)
{
    char *end;
    long place = strtol(key, &end, 10);

    if (cJSON_IsObject(json))
        return cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsArray(json) && *key && !*end ? cJSON_GetArrayItem(json, (int)place) : NULL;
}

static int print_number(double x)
{
    char text[64];

    if (x == floor(x) && fabs(x) < 0x1p53) {
        printf("%.0f\n", x);
        return 0;
    }
    if (x == floor(x) && fabs(x) <= 0x1p64)
        return ASK_CMAKE;
    snprintf(text, sizeof(text), "%.17g", x);
    printf("%s%s\n", text, strpbrk(text, ".e") ? "" : ".0");
    return 0;
}

static int print_value(const cJSON *json)
{
    if (cJSON_IsNumber(json))
        return print_number(json->valuedouble);
    if (!json || cJSON_IsArray(json) || cJSON_IsObject(json))
        return ASK_CMAKE;
    puts(cJSON_IsString(json) ? json->valuestring
         : cJSON_IsNull(json) ? ""
         : cJSON_IsTrue(json) ? "ON"
                              : "OFF");
    return 0;
}

static int print_length(const cJSON *json)
{
    if (!cJSON_IsArray(json) && !cJSON_IsObject(json))
        return ASK_CMAKE;
    printf("%d\n", cJSON_GetArraySize(json));
    return 0;
}

int main(int argc, char **argv)
{
    bool length = argc > 2 && strcmp(argv[1], "--length") == 0;
    char *text = argc > 2 ? content_of(argv[2]) : NULL;
    cJSON *whole = text ? cJSON_ParseWithOpts(text, NULL, true) : NULL;
    const cJSON *json = whole;

    for (int i = 3; json && i < argc; i++)
        json = item_of(json, argv[i]);
    int status = length ? print_length(json) : print_value(json);
    cJSON_Delete(whole);
    free(text);
    return fflush(stdout) == 0 ? status : 1;
}
