import type { ExportEvent, NotifyExport } from '../mappings/export/await-export.js';
import { formatByteRate, formatBytes, formatDuration, formatInstant } from '../text/format.js';
import { createMovingLines, drawBar } from './bars.js';
import { canDraw, type ProgressOptions } from './progress.js';

/** Interval between two lines of progress where there is no terminal. */
const linesEveryMs = 10_000;

export interface ExportProgress {
  readonly notify: NotifyExport;
  /** Ends the bar: further output starts on a line of its own. */
  stop(): void;
}

interface Download {
  readonly name: string;
  readonly startedAt: number;
  /** Bytes already there when this download started. */
  readonly before: number;
}

/** The progress of fetching an export: a bar for each file where the terminal can draw one, occasional lines elsewhere. */
export function createExportProgress(options: ProgressOptions): ExportProgress {
  const { stream, clock } = options;
  const draws = canDraw(options);
  const lines = createMovingLines(stream);
  let download: Download | undefined;
  let lastAt = clock();

  function say(text: string): void {
    lines.leave();
    lines.say(text);
  }

  function showDownload({ name, done, total }: ExportEvent & { type: 'downloading' }): void {
    if (download?.name !== name || done < download.before) {
      lines.leave();
      download = { name, startedAt: clock(), before: done };
    }
    const rate = formatByteRate(done - download.before, clock() - download.startedAt);
    if (draws) {
      lines.draw([`  ${name} ${drawBar(done, total)}  ${formatBytes(done)}  ${rate}`.trimEnd()]);
    } else if (clock() - lastAt >= linesEveryMs) {
      lastAt = clock();
      say(`  ${name}: ${formatBytes(done)} of ${formatBytes(total)}${rate === '' ? '' : `, ${rate}`}`);
    }
  }

  return {
    notify(event) {
      if (event.type === 'downloading') return showDownload(event);
      download = undefined;
      say(describeExportEvent(event));
    },
    stop: lines.leave,
  };
}

function describeExportEvent(event: Exclude<ExportEvent, { type: 'downloading' }>): string {
  switch (event.type) {
    case 'waiting': {
      const where = event.folder === '' ? 'the SFTP root' : event.folder;
      const since = event.newerThan === undefined ? '' : ` from ${formatInstant(event.newerThan)} on`;
      return `looking in ${where} for an export${since}`;
    }
    case 'sighted':
      return `  export ${event.set.id} is there; waiting until it no longer changes`;
    case 'archived':
      return `  ${event.name} is in the archive`;
    case 'held-off':
      return `  ${event.reason}; again in ${formatDuration(event.delayMs)}`;
  }
}
