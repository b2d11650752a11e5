/* SPDX-License-Identifier: MIT */
/* The text of a dropped file: unpacked where it is gzip, which its first bytes tell and never its name. */
import { gunzipped } from './gzip.js';

const MIB = 2 ** 20, LARGEST = 256 * MIB;

async function isPacked(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

const nextOf = (reader) => reader.read().catch(() => {
  throw new Error('The file begins like gzip, but is damaged or not whole.');
});

/* Piece by piece: a small file may unpack to more than the page has room for. */
async function unpackedText(file, most) {
  const reader = gunzipped(file, 'unpack the file', 'Unpack it first.').getReader();
  const decoder = new TextDecoder(), pieces = [];
  for (let size = 0, piece = await nextOf(reader); ; piece = await nextOf(reader)) {
    if (piece.done)
      return pieces.join('') + decoder.decode();
    size += piece.value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new RangeError(`The file unpacks to more than ${most / MIB} MiB.`);
    }
    pieces.push(decoder.decode(piece.value, { stream: true }));
  }
}

/**
 * @param {Blob} file @param {number} [most]  bytes, packed and unpacked
 * @throws {Error} with a sentence for the reader
 */
export async function droppedText(file, most = LARGEST) {
  if (file.size > most)
    throw new RangeError(`The file is larger than ${most / MIB} MiB.`);
  return await isPacked(file) ? unpackedText(file, most) : file.text();
}
