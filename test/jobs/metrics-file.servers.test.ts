import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeExporterNeeds, startNodeExporter } from '../support/node-exporter.js';
import { checkMetrics, promtoolNeeds } from '../support/promtool.js';
import { name, prepare, readSamples, run, toSamples } from './measured-run.js';

describe('run --metrics-file', () => {
  it('writes what promtool accepts', async ({ skip }) => {
    skip(promtoolNeeds !== undefined, promtoolNeeds);
    const { folder } = await prepare();
    await run(folder);
    expect(checkMetrics(await readFile(join(folder.path, name), 'utf8'))).toEqual([]);
  });

  it('writes what node_exporter reads and serves', async ({ skip }) => {
    skip(nodeExporterNeeds !== undefined, nodeExporterNeeds);
    const { folder } = await prepare();
    await run(folder);
    const exporter = await startNodeExporter(folder.path);
    onTestFinished(() => exporter.stop());
    const text = await exporter.scrape();
    expect(text).toMatch(/^node_textfile_scrape_error 0$/m);
    expect(toSamples(text)).toEqual(await readSamples(folder));
  });
});
