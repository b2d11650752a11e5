/* SPDX-License-Identifier: MIT */
/*
 * A trace as columns: a million slices are a few typed arrays and no objects. Slices stand by lane,
 * start, and those that hold others first.
 *
 *     const columns = new TraceColumns(lanes);
 *     columns.add(lane, name, category, start, duration);   in any order
 *     const trace = columns.finish();
 *
 * Times are µs. What is drawn in one row does not overlap, so it is found by halving.
 */

/* More rows of one lane than can be looked at; what is below has no row (-1). */
export const ROWS_MOST = 200;
/* Slices of one lane side by side, each in rows of its own; the next ones share the last. */
const SIDES_MOST = 48;

const usual = (Kind, nr) => new Kind(Math.max(16, nr));

/* The same with room for as much again. */
function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}

/** The first place from `low` to before `high` where `test` holds, which it does from there on. */
export function firstWhere(low, high, test) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Where a slice goes among those of its lane that have not ended: into the first stack that is empty or
 * whose top holds it. */
function sideOf(stacks, end, start, stop) {
  for (let side = 0; side < stacks.length; side++) {
    const stack = stacks[side];
    while (stack.length > 0 && end(stack[stack.length - 1]) <= start)
      stack.pop();
    if (stack.length === 0 || end(stack[stack.length - 1]) >= stop || side === SIDES_MOST - 1)
      return side;
  }
  return stacks.push([]) - 1;
}

export class TraceColumns {
  /** @param {object[]} lanes  { key, process, thread, order } @param {number} nr  slices, about */
  constructor(lanes, nr = 0) {
    this.lanes = lanes;
    this.nr = 0;
    this.texts = [];
    this.textIds = new Map();
    this.start = usual(Float64Array, nr);
    this.duration = usual(Float64Array, nr);
    this.lane = usual(Uint32Array, nr);
    this.name = usual(Uint32Array, nr);
    this.category = usual(Uint32Array, nr);
  }

  text(text) {
    let id = this.textIds.get(text);
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.textIds.set(text, id);
    }
    return id;
  }

  /** @returns {number} its place until finish() */
  add(lane, name, category, start, duration) {
    return this.addNumbers(lane, this.text(name), this.text(category), start, duration);
  }

  /** The same with places in `texts`. */
  addNumbers(lane, name, category, start, duration) {
    const i = this.nr++;
    if (this.nr > this.start.length)
      for (const column of ['start', 'duration', 'lane', 'name', 'category'])
        this[column] = grown(this[column]);
    this.start[i] = start;
    this.duration[i] = duration;
    this.lane[i] = lane;
    this.name[i] = name;
    this.category[i] = category;
    return i;
  }

  /* Places by lane, each lane by start; `order` says where a lane goes. */
  sorted(order) {
    const first = new Uint32Array(this.lanes.length + 1), places = new Uint32Array(this.nr);
    for (let i = 0; i < this.nr; i++)
      first[order[this.lane[i]] + 1]++;
    for (let lane = 0; lane < this.lanes.length; lane++)
      first[lane + 1] += first[lane];
    const next = first.slice();
    for (let i = 0; i < this.nr; i++)
      places[next[order[this.lane[i]]]++] = i;
    for (let lane = 0; lane < this.lanes.length; lane++)
      this.sortPart(places.subarray(first[lane], first[lane + 1]));
    return { first, places };
  }

  sortPart(part) {
    const { start, duration } = this;
    const before = (a, b) => start[a] - start[b] || duration[b] - duration[a] || a - b;
    for (let i = 1; i < part.length; i++)
      if (before(part[i - 1], part[i]) > 0) {
        part.sort(before);
        return;
      }
  }

  /**
   * @param {function(object, object): number} byLane  the order of lanes; of equal ones as they came
   * @returns {object} { nr, texts, lanes, start, duration, name, category, lane, depth, parent, row,
   *   places: of each slice what add() returned, from, to: µs }; of a lane first, nr, depth (rows), rows
   */
  finish(byLane = () => 0) {
    const lanes = this.lanes.map((lane, i) => ({ ...lane, i })).sort((a, b) => byLane(a, b) || a.i - b.i);
    const order = new Uint32Array(lanes.length);
    lanes.forEach((lane, i) => { order[lane.i] = i; });
    const { first, places } = this.sorted(order), { nr } = this;
    const pick = (column) => {
      const picked = new column.constructor(nr);
      for (let i = 0; i < nr; i++)
        picked[i] = column[places[i]];
      return picked;
    };
    const trace = { nr, texts: this.texts, lanes, places, start: pick(this.start),
      duration: pick(this.duration), name: pick(this.name), category: pick(this.category),
      lane: new Uint32Array(nr), depth: new Uint32Array(nr), parent: new Int32Array(nr).fill(-1),
      row: new Int32Array(nr) };
    lanes.forEach((lane, i) => {
      lane.first = first[i];
      lane.nr = first[i + 1] - first[i];
      trace.lane.fill(i, first[i], first[i + 1]);
      nest(trace, lane);
      layRows(trace, lane);
    });
    return bounded(trace);
  }
}

/* How deep each slice lies within others, beside those that it overlaps. */
function nest(trace, lane) {
  const { start, duration, depth, parent } = trace, stacks = [[]], last = lane.first + lane.nr;
  const end = (i) => start[i] + duration[i], side = new Uint8Array(lane.nr);
  let depths = 0;
  for (let i = lane.first; i < last; i++) {
    const mine = sideOf(stacks, end, start[i], end(i)), stack = stacks[mine];
    depth[i] = stack.length;
    parent[i] = stack.length ? stack[stack.length - 1] : -1;
    depths = Math.max(depths, stack.length + 1);
    side[i - lane.first] = mine;
    stack.push(i);
  }
  let most = 0;
  for (let i = lane.first; i < last; i++) {
    const row = side[i - lane.first] * depths + depth[i];
    trace.row[i] = row < ROWS_MOST ? row : -1;
    most = Math.max(most, row + 1);
  }
  lane.depth = Math.min(most, ROWS_MOST);
}

/* Of each row its slices by start, and the time that they cover up to each. */
function layRows(trace, lane) {
  const counts = new Uint32Array(lane.depth), last = lane.first + lane.nr;
  for (let i = lane.first; i < last; i++)
    if (trace.row[i] >= 0)
      counts[trace.row[i]]++;
  lane.rows = Array.from(counts, (nr) => ({ nr: 0, items: new Uint32Array(nr),
    covered: new Float64Array(nr + 1) }));
  for (let i = lane.first; i < last; i++) {
    const row = lane.rows[trace.row[i]];
    if (!row)
      continue;
    row.items[row.nr] = i;
    row.covered[row.nr + 1] = row.covered[row.nr] + trace.duration[i];
    row.nr++;
  }
}

function bounded(trace) {
  trace.from = Infinity;
  trace.to = -Infinity;
  for (let i = 0; i < trace.nr; i++) {
    trace.from = Math.min(trace.from, trace.start[i]);
    trace.to = Math.max(trace.to, trace.start[i] + trace.duration[i]);
  }
  return trace;
}

/** The name of a slice. */
export const nameAt = (trace, i) => trace.texts[trace.name[i]];

/** The name that stands in its block: a kernel's may be cut short. */
export const shownAt = (trace, i) => trace.shown?.[trace.name[i]] || nameAt(trace, i);
