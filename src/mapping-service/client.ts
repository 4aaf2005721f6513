import type { ReviewService } from './mapping-service.js';
import { reviewByFilePath, reviewPath } from './review-paths.js';
import { type MappingServiceOptions, prepareCalls } from './service-calls.js';

export type { MappingServiceOptions } from './service-calls.js';

/**
 * The client of the mapping service. It makes each call once: whether a call is repeated is the runner's decision.
 *
 * @throws TypeError when the address or a header's value cannot be used; its message never quotes them
 */
export function createMappingServiceClient(options: MappingServiceOptions): ReviewService {
  const { root, headers, headersOfBody, transport, judge } = prepareCalls(options);

  return {
    async reviewBookedHotels(body, { signal }) {
      const request = {
        method: 'POST',
        path: `${root}${reviewPath}`,
        headers: headersOfBody,
        body,
        signal,
      } as const;
      return judge(await transport.call(request));
    },
    async reviewBookedHotelsByFile(ftpFilePath, { signal }) {
      const path = `${root}${reviewByFilePath(ftpFilePath)}`;
      return judge(await transport.call({ method: 'GET', path, headers, signal }));
    },
    close: () => transport.close(),
  };
}
