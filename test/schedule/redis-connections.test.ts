import RedisMock from 'ioredis-mock';
import { expect, it, vi } from 'vitest';
import { openRedisConnections } from '../../src/schedule/bullmq-schedule.js';

it('Reports the errors of a connection and of each of its duplicates', () => {
  const onError = vi.fn();
  const { first } = openRedisConnections(() => new RedisMock(), onError);
  const errors = [first, first.duplicate(), first.duplicate().duplicate()].map((connection, index) => {
    const error = new Error(`connection ${index}`);
    connection.emit('error', error);
    return error;
  });
  expect(onError.mock.calls.map(([error]) => error)).toEqual(errors);
});

it('Closes the connection and all of its duplicates, and those that are reopened', () => {
  const { first, end } = openRedisConnections(() => new RedisMock(), vi.fn());
  const all = [first, first.duplicate(), first.duplicate().duplicate()];
  const disconnects = all.map((connection) => vi.spyOn(connection, 'disconnect'));
  end();
  for (const disconnect of disconnects) expect(disconnect).toHaveBeenCalledTimes(1);
  for (const connection of all) expect(connection.options.retryStrategy?.(1)).toBeNull();
  // BullMQ may open a closed connection again during an outage.
  for (const connection of all) connection.emit('connect');
  for (const disconnect of disconnects) expect(disconnect).toHaveBeenCalledTimes(2);
});
