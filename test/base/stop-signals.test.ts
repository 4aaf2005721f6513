import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listenForStop } from '../../jobs/process.js';
import { StoppedError } from '../../src/base/safe-error.js';
import { captureStream } from '../support/captured-stream.js';

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (name) => {
  it('stops cleanly: the signal aborts, the process continues', () => {
    const { process, exits, stop, errors } = listen();
    expect(stop.signal.aborted).toBe(false);
    process.emit(name, name);
    expect(stop.signal.reason).toEqual(new StoppedError(name));
    expect(errors.text()).toBe(`\n${name}: stopping; send the signal again to stop at once\n`);
    expect(exits).toEqual([]);
  });

  it.each(['SIGINT', 'SIGTERM'])('and then %s stops at once, as failed', (second) => {
    const { process, exits, errors, stop } = listen();
    const exitsAtHalt: number[][] = [];
    stop.halted.addEventListener('abort', () => exitsAtHalt.push([...exits]));
    process.emit(name, name);
    const said = errors.text();
    expect(stop.halted.aborted).toBe(false);
    process.emit(second, second);
    expect(exits).toEqual([1]);
    // Listeners can still write.
    expect(exitsAtHalt).toEqual([[]]);
    expect(errors.text()).toBe(said);
  });

  it('ends the process with the exit code of a command that has ended already', () => {
    const { process, exits, stop, errors } = listen();
    stop.end(3);
    process.emit(name, name);
    const [isStopping, isHalted] = [stop.signal.aborted, stop.halted.aborted];
    expect({ exits, written: errors.text(), isStopping, isHalted }).toEqual({
      exits: [3],
      written: '',
      isStopping: false,
      isHalted: false,
    });
  });
});

function listen() {
  const exits: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const errors = captureStream();
  return { process, exits, errors, stop: listenForStop(process, errors.stream, 1) };
}
