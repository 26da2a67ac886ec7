// Writes NumPy's .npy files, version 1, C order.
import { writeFileSync } from "node:fs";

function write(file, descr, shape, data) {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const header = Buffer.from(text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n");
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  writeFileSync(file, Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, header, Buffer.from(data.buffer)]));
}

export const matrix = (file, rows) => write(file, "<f4", [rows.length, rows[0].length], Float32Array.from(rows.flat()));
export const integers = (file, values) => write(file, "<i8", [values.length], BigInt64Array.from(values, BigInt));
