/* SPDX-License-Identifier: MIT */
/*
 * Trace Event files: slices ("X", or "B" with its "E") with process and thread, names from "M", what
 * started them from "s" and "f" or by one correlation. Times are µs in the file and stay so.
 */
import { TraceColumns } from './trace_columns.js';

const finite = (value) => typeof value === 'number' && Number.isFinite(value);

const numberOf = (value) => (typeof value === 'string' && value !== '' ? Number(value) : value);

/* The lanes of a file as they come; events of a lane mostly follow each other. */
class Lanes {
  constructor() {
    this.list = [];
    this.byPid = new Map();
  }

  of({ pid = 0, tid = 0 }) {
    if (pid === this.pid && tid === this.tid)
      return this.last;
    let lanes = this.byPid.get(String(pid));
    if (!lanes)
      this.byPid.set(String(pid), lanes = new Map());
    let lane = lanes.get(String(tid));
    if (lane === undefined) {
      lane = this.list.push({ key: `${pid}/${tid}`, pid: String(pid), tid: String(tid), open: [] }) - 1;
      lanes.set(String(tid), lane);
    }
    [this.pid, this.tid, this.last] = [pid, tid, lane];
    return lane;
  }
}

/* PyTorch numbers its steps: they are iterations of one name. */
const STEP = /^(ProfilerStep)#\d+$/;

/* Its spans tell of the recording, and its waits for a stream are in the calls that waited. */
const TOLD_ELSEWHERE = /^(Trace|cuda_sync)$/;

/* As PyTorch wrote them up to 1.12, where the arguments say that a GPU is meant (trace_reader.c). */
const OLDER = { Kernel: 'kernel', Memcpy: 'gpu_memcpy', Memset: 'gpu_memset', Runtime: 'cuda_runtime' };

const WORK = /^(kernel|gpu_(memcpy|memset|user_annotation))$/;

function categoryOf({ cat, args }) {
  const older = Object.hasOwn(OLDER, cat ?? '') ? OLDER[cat] : null;
  const isOfGpu = cat === 'Runtime' ? args?.correlation !== undefined
    : finite(args?.device) && finite(args?.stream);
  return older && isOfGpu ? older : String(cat ?? '');
}

class TraceReader {
  constructor(nr) {
    this.lanes = new Lanes();
    this.columns = new TraceColumns(this.lanes.list, nr);
    this.begins = []; // of each slice its event, and the one that ended it
    this.ends = new Map();
    this.processes = new Map();
    this.threads = new Map();
    this.order = new Map();
  }

  add(lane, event, start, duration) {
    const category = categoryOf(event);
    /* Work at 0 without a length is such that the profiler could not time. */
    if (!(duration >= 0) || (start === 0 && duration === 0 && WORK.test(category)))
      return;
    const name = String(event.name ?? '').replace(STEP, '$1');
    this.begins[this.columns.add(lane, name, category, start, duration)] = event;
  }

  /* "B" waits for the "E" of its thread. */
  ended(event, ts) {
    const lane = this.lanes.of(event), begin = this.lanes.list[lane].open.pop();
    if (!begin)
      return;
    const start = numberOf(begin.ts);
    if (event.args && ts >= start)
      this.ends.set(this.columns.nr, event);
    this.add(lane, begin, start, ts - start);
  }

  named({ name, pid, tid, args }) {
    const lane = `${pid}/${tid}`;
    if (name === 'process_name')
      this.processes.set(String(pid), String(args?.name ?? ''));
    if (name === 'thread_name')
      this.threads.set(lane, String(args?.name ?? ''));
    if (name === 'thread_sort_index' && finite(args?.sort_index))
      this.order.set(lane, args.sort_index);
  }

  read(event) {
    const ts = numberOf(event.ts);
    if (event.ph === 'X') {
      const duration = numberOf(event.dur);
      if (finite(ts) && finite(duration) && !TOLD_ELSEWHERE.test(event.cat ?? ''))
        this.add(this.lanes.of(event), event, ts, duration);
    } else if (event.ph === 'B' && finite(ts))
      this.lanes.list[this.lanes.of(event)].open.push(event);
    else if (event.ph === 'E' && finite(ts))
      this.ended(event, ts);
    else if (event.ph === 'M')
      this.named(event);
  }

  finish() {
    for (const lane of this.lanes.list) {
      lane.process = this.processes.get(lane.pid) || `process ${lane.pid}`;
      lane.thread = this.threads.get(lane.key) || `thread ${lane.tid}`;
      lane.order = this.order.get(lane.key) ?? 0;
    }
    const words = new Intl.Collator(undefined), numbers = new Intl.Collator('en', { numeric: true });
    const trace = this.columns.finish((a, b) => words.compare(a.process, b.process)
      || a.order - b.order || numbers.compare(a.thread, b.thread));
    const eventOf = (i) => this.begins[trace.places[i]];
    trace.args = (i) => ({ ...eventOf(i).args, ...this.ends.get(trace.places[i])?.args });
    trace.launch = launches(trace, (i) => eventOf(i).args?.correlation);
    return trace;
  }
}

/* Of each slice on a GPU the call that has its correlation; -1: none is known. */
function launches(trace, correlationOf) {
  const launch = new Int32Array(trace.nr).fill(-1), calls = new Map();
  const isCall = trace.texts.map((text) => /^cuda_(runtime|driver)$/.test(text));
  for (let i = 0; i < trace.nr; i++)
    if (isCall[trace.category[i]] && correlationOf(i))
      calls.set(correlationOf(i), i);
  for (let i = 0; calls.size > 0 && i < trace.nr; i++)
    if (!isCall[trace.category[i]])
      launch[i] = calls.get(correlationOf(i)) ?? -1;
  return launch;
}

/**
 * @param {object|object[]} json
 * @returns {object} see TraceColumns; with args(i), and launch: of each slice what started it. Lanes in
 *   the order of their processes and sort indices
 */
export function traceSlices(json) {
  const events = Array.isArray(json) ? json : json.traceEvents, reader = new TraceReader(events.length);
  for (const event of events)
    reader.read(event);
  return reader.finish();
}

/** The entries of a profile as lanes: one a device. */
export function profileLanes(entries) {
  return traceSlices(entries.map((entry) => ({ ph: 'X', name: entry.operation, cat: entry.backend,
    ts: entry.start / 1e3, dur: entry.duration / 1e3, pid: 'profile', tid: entry.device || 'all',
    args: Object.fromEntries(['gpu', 'cpu', 'transfer', 'overhead'].filter((part) =>
      entry[part] !== null).map((part) => [`${part} ns`, entry[part]])) }))
    .concat({ ph: 'M', name: 'process_name', pid: 'profile', args: { name: 'profile' } },
      [...new Set(entries.map((entry) => entry.device || 'all'))].map((device) => ({ ph: 'M',
        name: 'thread_name', pid: 'profile', tid: device, args: { name: device } })))
    .flat());
}
