import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';

// V8 11.3 compiled an earlier version of the normaliser to code that corrupted the heap in two of three processes.
it('normalising a large day never crashes once the compiler has optimised it', () => {
  const script = `
      import { createNormaliser } from '${compiled}src/booking/normalise.js';
      import { createLineBuffer, renderLine } from '${compiled}src/booking/render-line.js';
      const normalise = createNormaliser();
      const line = createLineBuffer(256);
      let length = 0;
      for (let number = 1; number <= 300_000; number += 1) {
        const row = \`\${number % 200 ? 100_000 + number : ''},BR-\${number},"Ana Núñez",North,H\${number},2026-11-20,2026-11-21\`.split(',');
        const [ServiceId, BookingReferenceId, BookingClientName, ProviderName, ProviderHotelId, CheckInDate, CheckOutDate] = row;
        const normalised = normalise({ ServiceId, BookingReferenceId, BookingClientName, ProviderName, ProviderHotelId, CheckInDate, CheckOutDate });
        if (normalised.kind === 'booking') renderLine(normalised.booking, line);
        length += line.handOver().length;
      }
      console.log(length > 0);`;
  for (let process = 0; process < 5; process += 1) {
    const { signal, stdout } = spawnSync(execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect({ signal, stdout }).toEqual({ signal: null, stdout: 'true\n' });
  }
});
