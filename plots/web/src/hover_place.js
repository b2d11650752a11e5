/* SPDX-License-Identifier: MIT */
/*
 * Plotly puts the words of a point to its right or left, over whatever is there. Where that is text
 * of the figure they go to another side of the point, or further off with a line to it.
 */
const GAP = 12, FAR = 200, STEP = 12, PAD = 5;

const overlap = (a, b) =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x))
  * Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/* Pixels of text that a box hides; what leaves the frame is worse. */
const cost = (box, texts, frame) => texts.reduce((sum, text) => sum + overlap(box, text), 0)
  + 9 * (box.width * box.height - overlap(box, frame));

const clamp = (value, low, size) => Math.min(Math.max(value, low), low + size);

/* How far a box is from a point. */
const distance = (box, { x, y }) =>
  Math.hypot(x - clamp(x, box.x, box.width), y - clamp(y, box.y, box.height));

/* From one end to the other, and the ends themselves. */
function along(middle, length) {
  const reach = length / 2 + FAR, places = [];
  for (let at = GAP + length / 2; at <= reach; at += STEP)
    places.push(middle + at - length / 2, middle - at - length / 2);
  for (let at = 0; at < GAP + length / 2; at += STEP)
    places.push(middle + at - length / 2, middle - at - length / 2);
  return places;
}

/**
 * @param {{x: number, y: number, width: number, height: number}} box  where it is
 * @param {{x: number, y: number}} point  what it speaks of
 * @param {object[]} texts  boxes that stay readable  @param {object} frame  the box that it stays in
 * @returns {object} `box`, or the nearest place around the point that hides less
 */
export function freePlace(box, point, texts, frame) {
  const { width, height } = box;
  const worth = (one) => cost(one, texts, frame) * FAR + distance(one, point);
  let best = box, least = cost(box, texts, frame) < 1 ? 0 : worth(box);
  for (const x of least > 0 ? along(point.x, width) : [])
    for (const y of along(point.y, height)) {
      const one = { x, y, width, height };
      if (distance(one, point) >= GAP && worth(one) < least)
        [best, least] = [one, worth(one)];
    }
  return best;
}

function move(label, graph) {
  const words = label.querySelector('text.nums'), path = label.querySelector('path');
  if (!words || !path)
    return;
  words.removeAttribute('transform');
  const { e, f } = label.getScreenCTM(), rect = words.getBoundingClientRect();
  const box = { x: rect.x - PAD, y: rect.y - PAD, width: rect.width + 2 * PAD, height: rect.height + 2 * PAD };
  const texts = [...graph.querySelectorAll('text.annotation-text')].map((text) => text.getBoundingClientRect());
  const to = freePlace(box, { x: e, y: f }, texts, graph.getBoundingClientRect());
  if (to === box)
    return;
  const x = to.x - e, y = to.y - f;
  words.setAttribute('transform', `translate(${to.x - box.x},${to.y - box.y})`);
  path.setAttribute('d', `M0,0L${clamp(0, x, to.width)},${clamp(0, y, to.height)}`
    + `M${x},${y}h${to.width}v${to.height}h${-to.width}Z`);
}

const watched = new WeakSet();

/** Lets the words at the pointer keep off the figure's own. @param {Element} graph  that Plotly drew */
export function placeHover(graph) {
  const layer = graph.querySelector('.hoverlayer');
  if (!layer || watched.has(layer))
    return;
  const observer = new MutationObserver(() => {
    layer.querySelectorAll('g.hovertext').forEach((label) => move(label, graph));
    observer.takeRecords(); // what was done here
  });
  watched.add(layer);
  observer.observe(layer, { childList: true, subtree: true, attributes: true, attributeFilter: ['d'] });
}
