import { describe, expect, it } from 'vitest';
import { readConfiguration } from '../../src/doctor/configuration.js';
import { complain, parse } from './writing.js';

const settings = (pagination: object) => ({
  source: {
    kind: 'http',
    url: 'https://pms.test/bookings?day={day}',
    pagination: { kind: 'page', parameter: 'p', ...pagination },
  },
});
const old = settings({ behindLast: 'not-found' });

describe('The old name of source.pagination.afterLastPage', () => {
  it('is accepted and reported', () => {
    const { source, renamedSettings } = parse(old);
    expect(source).toMatchObject({ pagination: { afterLastPage: 'not-found' } });
    expect(renamedSettings).toEqual([{ from: 'source.pagination.behindLast', to: 'afterLastPage' }]);
  });

  it('is not reported if the new name is used', () => {
    expect(parse(settings({ afterLastPage: 'not-found' })).renamedSettings).toEqual([]);
  });

  it('is refused together with the new one', () => {
    const both = settings({ behindLast: 'empty', afterLastPage: 'empty' });
    expect(complain(both)).toEqual([expect.stringContaining('behindLast: unknown setting')]);
  });

  it('makes doctor warn', async () => {
    const { findings } = await readConfiguration('hotel-review.yaml', async () => parse(old));
    expect(findings).toContainEqual({
      part: 'configuration',
      verdict: 'warning',
      message: 'source.pagination.behindLast is now called afterLastPage',
      advice: 'Rename it: the next version refuses the old name.',
    });
  });
});
