/* SPDX-License-Identifier: MIT */
/*
 * What the device with a scripted clock is told by whoever starts measuring processes: the number
 * of this one among all that measure on such a device, from 1. By it each has noise of its own that
 * is the same when all is done again.
 */
#ifndef HARNESS_DEVICE_DEVICE_FAKE_H
#define HARNESS_DEVICE_DEVICE_FAKE_H

#define DEVICE_FAKE_LAUNCH "_HARNESS_LAUNCH"

#endif
