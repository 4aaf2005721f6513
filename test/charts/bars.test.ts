import { describe, expect, it } from 'vitest';
import { renderBars } from '../../src/charts/bars.js';

const hostile = '<script>alert(1)</script>"\u001b[2J';

describe('bars', () => {
  it('are a list that names each value and what is usual', () => {
    const chart = renderBars('Providers', [
      { label: 'Bedlink', value: 1_200, text: '1,200', usual: 2_400 },
      { label: 'Tiny', value: 0, text: '0', usual: null },
      { label: 'batch', value: 10, text: '10 s' },
    ])?.markup;
    expect(chart).toContain('aria-label="Providers"');
    expect(chart).toContain('1,200, usually 2,400');
    expect(chart).toContain('>0, not compared yet<');
    expect(chart).toContain('>10 s<');
    expect(chart?.match(/<li>/g)).toHaveLength(3);
  });

  it('share one scale, up to the largest value or usual value', () => {
    const chart = renderBars('Providers', [
      { label: 'Bedlink', value: 50, text: '50', usual: 200 },
      { label: 'Tiny', value: 20, text: '20', usual: 0 },
    ])?.markup;
    expect(chart).toContain('width="25%"');
    expect(chart).toContain('width="10%"');
    expect(chart?.match(/class="usual" x1="100%"/g)).toHaveLength(1);
  });

  it('stand out where the chart is about one of them', () => {
    const chart = renderBars('Days', [
      { label: '2026-11-13', value: 4, text: '4', isHighlighted: false },
      { label: '2026-11-20', value: 3, text: '3', isHighlighted: true },
    ])?.markup;
    expect(chart?.match(/class="bar other"/g)).toHaveLength(1);
    expect(chart?.match(/class="bar"/g)).toHaveLength(1);
  });

  it('escape untrusted text', () => {
    const chart = renderBars('Providers', [{ label: hostile, value: 1, text: '1' }])?.markup;
    expect(chart).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;\\u001b[2J<');
  });

  it('are left out where there are none', () => {
    expect(renderBars('Providers', [])).toBeUndefined();
  });
});
