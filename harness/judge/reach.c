/* SPDX-License-Identifier: MIT */
#include "judge/reach.h"

static const struct reach none[] = { { NULL, NULL } };

/* docs/judge-cuda.md has the same, with what it comes to. */
static const struct reach cuda[] = {
    { "driver_calls",
      "the driver's calls (ioctl on /dev/nvidia*) pass the filter of system calls, and what they "
      "ask "
      "for is not seen" },
    { "running_device",
      "a device goes on while the process is stopped: a context of the guest's own, which the wait "
      "at the end of a window does not see, can look at inputs as soon as they are there" },
    { "end_of_window",
      "the wait for the device is made in the guest's process: who takes it away gains the time "
      "until the judge has copied the outputs" },
    { "own_stream",
      "on a device that is idle, work on another stream than the call's is waited for and counted, "
      "but nothing says that it was not ordered behind the call's (cuda:graph of harness verify "
      "does)" },
    { "device_clocks", "where the driver lets every user set clocks or power, so can a guest" },
    { NULL, NULL },
};

const struct reach *reach_beyond(enum device_kind kind)
{
    return kind == DEVICE_CUDA ? cuda : none;
}
