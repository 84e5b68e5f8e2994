// SPDX-License-Identifier: Apache-2.0
// A server that is made from flags, and front ends in the process: nereid/in_process.h.
//
//   capi_frontends_test BACKEND_DIRECTORY
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "in_process.h"
#include "nereid/in_process.h"

enum { kMaxFlags = 16 };

typedef struct Flags {
  const char* words[kMaxFlags];
  uint32_t count;
} Flags;

static Flags Only(const char* enabled, const char* more) {
  Flags flags = {{"--allow-http=false", "--allow-grpc=false", "--allow-metrics=false",
                  "--http-port=0", "--grpc-port=0", "--metrics-port=0", "--http-address=127.0.0.1",
                  "--grpc-address=127.0.0.1", enabled},
                 9};
  if (more != NULL) flags.words[flags.count++] = more;
  return flags;
}

static struct NEREID_Frontends* Start(TRITONSERVER_Server* server, const char* enabled,
                                      const char* more) {
  const Flags flags = Only(enabled, more);
  struct NEREID_Frontends* frontends = NULL;
  OK(NEREID_FrontendsStart(&frontends, server, flags.words, flags.count));
  return frontends;
}

static uint16_t PortOf(struct NEREID_Frontends* frontends, NEREID_Frontend kind) {
  uint16_t port = 0;
  OK(NEREID_FrontendsPort(frontends, kind, &port));
  return port;
}

/* Returns the HTTP status of GET `path`; 0 if nothing listens. */
static int Get(uint16_t port, const char* path) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int status = 0;
  if (connect(connection, (struct sockaddr*)&address, sizeof(address)) == 0) {
    char text[512];
    const int length = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    CHECK(write(connection, text, (size_t)length) == length);
    const ssize_t received = read(connection, text, sizeof(text) - 1);
    CHECK(received > 12);
    status = atoi(text + 9);
  }
  close(connection);
  return status;
}

static TRITONSERVER_Server* MakeServer(const char* backends) {
  char repository[512];
  char backend_directory[512];
  snprintf(repository, sizeof(repository), "--model-repository=%s", RepositoryPath());
  snprintf(backend_directory, sizeof(backend_directory), "--backend-directory=%s", backends);
  const char* const flags[] = {repository, backend_directory, "--log-info=false", "--id=flags"};
  TRITONSERVER_Server* server = NULL;
  OK(NEREID_ServerNewFromFlags(&server, flags, 4));
  return server;
}

static void TestWrongFlags(TRITONSERVER_Server* server) {
  struct NEREID_Frontends* frontends = NULL;
  TRITONSERVER_Server* made = NULL;
  const char* const unknown[] = {"--http-prot=1"};
  FAILS(NEREID_FrontendsStart(&frontends, server, unknown, 1), TRITONSERVER_ERROR_INVALID_ARG,
        "http-prot");
  FAILS(NEREID_ServerNewFromFlags(&made, unknown, 1), TRITONSERVER_ERROR_INVALID_ARG, "http-prot");
  FAILS(NEREID_ServerNewFromFlags(&made, NULL, 0), TRITONSERVER_ERROR_INVALID_ARG,
        "--model-repository must be specified");
  const char* const help[] = {"--help"};
  FAILS(NEREID_ServerNewFromFlags(&made, help, 1), TRITONSERVER_ERROR_INVALID_ARG, "--help");
  FAILS(NEREID_FrontendsStart(NULL, server, NULL, 0), TRITONSERVER_ERROR_INVALID_ARG, "frontends");
}

static void TestFrontends(TRITONSERVER_Server* server) {
  struct NEREID_Frontends* http = Start(server, "--allow-http=true", NULL);
  struct NEREID_Frontends* grpc = Start(server, "--allow-grpc=true", NULL);
  struct NEREID_Frontends* metrics = Start(server, "--allow-metrics=true", NULL);
  const uint16_t port = PortOf(http, NEREID_FRONTEND_HTTP);
  CHECK(port != 0 && PortOf(http, NEREID_FRONTEND_GRPC) == 0);
  CHECK(PortOf(grpc, NEREID_FRONTEND_GRPC) != 0);
  FAILS(NEREID_FrontendsPort(http, (NEREID_Frontend)7, &(uint16_t){0}),
        TRITONSERVER_ERROR_INVALID_ARG, "kind 7");
  CHECK(Get(port, "/v2/health/ready") == 200);
  CHECK(Get(PortOf(metrics, NEREID_FRONTEND_METRICS), "/metrics") == 200);

  /* The first front ends have permitted no shared memory. */
  const Flags other = Only("--allow-http=true", "--allow-client-shm=true");
  struct NEREID_Frontends* second = NULL;
  FAILS(NEREID_FrontendsStart(&second, server, other.words, other.count),
        TRITONSERVER_ERROR_INVALID_ARG, "--allow-client-shm");

  OK(NEREID_FrontendsDelete(grpc));
  OK(NEREID_FrontendsStop(metrics, 1000));
  OK(NEREID_FrontendsDelete(metrics));

  /* A front end refuses what comes after the stop of the server, and outlives it. */
  OK(TRITONSERVER_ServerStop(server));
  CHECK(Get(port, "/v2/health/ready") == 400);
  OK(TRITONSERVER_ServerDelete(server));
  CHECK(Get(port, "/v2/health/ready") == 400);
  OK(NEREID_FrontendsStop(http, 1000));
  OK(NEREID_FrontendsStop(http, 1000));
  CHECK(Get(port, "/v2/health/ready") == 0);
  OK(NEREID_FrontendsDelete(http));
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  MakeRepository();
  MakeModel("echo", "");
  TRITONSERVER_Server* server = MakeServer(argv[1]);
  TestWrongFlags(server);
  TestFrontends(server);
  return 0;
}
