import { RequestRefused, status } from './status.js';

/** The two paths that a posix-rename carries. @throws RequestRefused when it carries something else */
export function readTwoPaths(data: Buffer | undefined): readonly [string, string] {
  const paths: string[] = [];
  let rest = data ?? Buffer.alloc(0);
  while (rest.length >= 4) {
    const end = 4 + rest.readUInt32BE(0);
    if (end > rest.length) break;
    paths.push(rest.toString('utf8', 4, end));
    rest = rest.subarray(end);
  }
  const [from, to] = paths;
  if (from === undefined || to === undefined || paths.length > 2 || rest.length > 0) {
    throw new RequestRefused(status.BAD_MESSAGE, 'Expected two paths');
  }
  return [from, to];
}
