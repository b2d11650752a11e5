/* SPDX-License-Identifier: MIT */
/*
 * A button that is replaced between press and release gets no click: the browser finds no element that had
 * both. So what draws anew by itself (an answer that comes, typing that has settled) waits until nothing
 * is pressed.
 */
const waiting = [];
let pressed = false;

function release() {
  pressed = false;
  waiting.splice(0).forEach((call) => call());
}

/** Calls at once where nothing is pressed, else after the click that the press becomes. */
export function whenReleased(call) {
  if (pressed)
    waiting.push(call);
  else
    call();
}

/** Follows the pointer of this window from now on. */
export function followPress(window) {
  const listen = (name, heard) => window.addEventListener(name, heard, { capture: true, passive: true });
  const released = () => pressed && setTimeout(release); /* the click comes before */
  listen('pointerdown', () => { pressed = true; });
  for (const name of ['pointerup', 'pointercancel', 'dragend'])
    listen(name, released);
  listen('blur', (event) => event.target === window && released()); /* else an element lost the focus */
  /* Released where nobody told: outside, in a menu. */
  listen('pointermove', (event) => event.buttons === 0 && released());
}
