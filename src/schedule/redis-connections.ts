import { Redis, type RedisOptions } from 'ioredis';

/** @param url `redis://` or `rediss://` */
export function connectorTo(url: string): () => Redis {
  return () => new Redis(url, { maxRetriesPerRequest: null });
}

/** A connection, with every copy that was made of it. */
export interface RedisConnections {
  readonly first: Redis;
  /** Ends them all, and every one that is opened again later. */
  end(): void;
}

/**
 * BullMQ makes copies of the connection that it is given, and in an outage it may open one again that was closed before:
 * that one would call for Redis for ever, and keep the process. So the copies are kept account of here.
 */
export function openRedisConnections(
  connect: () => Redis,
  onError: (error: Error) => void,
): RedisConnections {
  const connections: Redis[] = [];

  function keep(connection: Redis): Redis {
    connections.push(connection);
    connection.on('error', onError);
    const duplicate = connection.duplicate.bind(connection);
    connection.duplicate = (override?: Partial<RedisOptions>) => keep(duplicate(override));
    return connection;
  }

  return {
    first: keep(connect()),
    end() {
      for (const connection of connections) {
        connection.options.retryStrategy = () => null;
        connection.on('connect', () => connection.disconnect());
        connection.disconnect();
      }
    },
  };
}
