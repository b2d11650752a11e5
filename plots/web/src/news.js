/* SPDX-License-Identifier: MIT */
/*
 * What the server tells while the page is open: new runs, and whether it is still there. A browser
 * opens a stream that broke off by itself, but not one that was refused.
 */
const PATIENCE = 3000; // ms; a short break is nobody's concern
const AGAIN = 5000; // ms

/**
 * @param {string} url  of server-sent events
 * @param {{runs: function(number), connection: function(string)}} listener  connection: "lost",
 *   "ended" or, when it is there again, "here"
 */
export function followNews(url, { runs, connection }) {
  let state = 'here', ended = false, timer = null;
  const change = (to) => {
    clearTimeout(timer);
    timer = null;
    if (to !== state)
      connection(to);
    state = to;
  };
  const open = () => {
    const stream = new EventSource(url);
    stream.addEventListener('open', () => {
      ended = false;
      change('here');
    });
    stream.addEventListener('runs', (event) => runs(JSON.parse(event.data).newest));
    stream.addEventListener('end', () => {
      ended = true;
      change('ended');
    });
    stream.addEventListener('error', () => {
      if (!ended && timer === null)
        timer = setTimeout(() => change('lost'), PATIENCE);
      if (stream.readyState === EventSource.CLOSED)
        setTimeout(open, AGAIN);
    });
  };
  open();
}
