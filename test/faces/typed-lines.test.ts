import { expect, it } from 'vitest';
import { readTyped, understood } from './typed-lines.js';

it('Every command takes the options of all commands before it and after it', async () => {
  const own = '--config other.yaml --json --log-level debug --stack-trace';
  const globals = { config: 'other.yaml', json: true, logLevel: 'debug', stackTrace: true };
  const configFile = globals.config;
  for (const line of understood) {
    const bare = await readTyped(line);
    if (typeof bare === 'string') throw new Error(`${line}: ${bare}`);
    expect(bare.globals).toEqual({ config: 'hotel-review.yaml', json: false, stackTrace: false });
    const input = { ...bare.input, ...('configFile' in bare.input && { configFile }) };
    for (const typed of [`${own} ${line}`, `${line} ${own}`])
      expect(await readTyped(typed), typed).toMatchObject({ input, globals });
  }
});
