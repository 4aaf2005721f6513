import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { chartStyle } from '../../charts/chart-style.js';

/** A file of the pages, under an address that changes with its content: browsers may keep it forever. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly content: string;
}

export interface Assets {
  readonly style: Asset;
  readonly script: Asset;
  readonly icon: Asset;
}

/** @param folder where they are; the desk's style sheet includes those of the calendar and the charts */
export async function readAssets(folder: URL): Promise<Assets> {
  const read = (name: string) => readFile(new URL(name, folder), 'utf8');
  const style = [await read('desk.css'), await read('calendar.css'), chartStyle].join('\n');
  return {
    style: toAsset('desk', 'css', 'text/css; charset=utf-8', style),
    script: toAsset('desk', 'js', 'text/javascript; charset=utf-8', await read('desk.js')),
    icon: toAsset('desk', 'svg', 'image/svg+xml', await read('desk.svg')),
  };
}

function toAsset(name: string, extension: string, contentType: string, content: string): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { path: `/assets/${name}-${hash}.${extension}`, contentType, content };
}
