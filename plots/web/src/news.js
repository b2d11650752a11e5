/* SPDX-License-Identifier: MIT */
/*
 * What the server tells while the page is open: new runs, and whether it is still there. A browser
 * opens a stream that broke off by itself, but not one that was refused. A page that nobody sees
 * holds no stream: a browser has six connections to a server for all of its pages, so a few hidden
 * ones would keep the next from loading. Who joins is told what is new.
 */
const PATIENCE = 3000; // ms; a short break is nobody's concern
const AGAIN = 5000; // ms

/**
 * @param {string} url  of server-sent events
 * @param {{runs: function(number), connection: function(string)}} listener  connection: "lost",
 *   "ended" or, when it is there again, "here"
 */
export function followNews(url, { runs, connection }) {
  let state = 'here', ended = false, timer = null, stream = null;
  const wait = () => {
    clearTimeout(timer);
    timer = null;
  };
  const change = (to) => {
    wait();
    if (to !== state)
      connection(to);
    state = to;
  };
  const failed = () => {
    if (!ended && timer === null)
      timer = setTimeout(() => change('lost'), PATIENCE);
    if (stream.readyState !== EventSource.CLOSED)
      return;
    stream = null;
    setTimeout(open, AGAIN);
  };
  const open = () => {
    if (document.hidden || stream)
      return;
    stream = new EventSource(url);
    stream.addEventListener('open', () => {
      ended = false;
      change('here');
    });
    stream.addEventListener('runs', (event) => runs(JSON.parse(event.data).newest));
    stream.addEventListener('end', () => {
      ended = true;
      change('ended');
    });
    stream.addEventListener('error', failed);
  };
  const close = () => {
    wait();
    stream?.close();
    stream = null;
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
