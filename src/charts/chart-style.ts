/**
 * The style of all charts, for pages that define the colours: --text, --faint, --line, --ground, --good, --bad, --busy and
 * --wait.
 */
export const chartStyle = `
.chart { margin: 0; } .chart + .chart { margin-top: 1.5rem; } .chart figcaption { margin-bottom: .5rem; }
.chart figcaption span { color: var(--faint); font-size: .85rem; }
.chart-plot { position: relative; margin-left: 3.4rem; }
.chart-plot svg { display: block; max-width: none; margin: 0; overflow: visible; }
.chart-plot svg svg { overflow: visible; }
.chart-plot text { fill: var(--faint); font-size: 12px; font-variant-numeric: tabular-nums; }
.chart .strong { fill: var(--text); font-weight: 600; }
.chart-plot .value { text-anchor: end; }
.chart-plot .grid, .chart-plot .tick, .chart-plot .base { stroke: var(--line); shape-rendering: crispEdges; }
.chart-plot .accepted { fill: var(--busy); }
.chart-plot .rejected { fill: var(--wait); stroke: var(--wait); }
.chart-plot .unanswered { fill: var(--faint); stroke: var(--faint); }
.chart-plot .affected { fill: var(--bad); stroke: var(--bad); }
.chart-plot .unknown { fill: none; stroke: var(--faint); stroke-width: 2; stroke-dasharray: 2 3; }
.chart-plot .missing { fill: var(--bad); opacity: .18; }
.chart .cross { fill: var(--bad); font-size: 15px; font-weight: 700; text-anchor: middle;
  stroke: var(--card, var(--ground)); stroke-width: 3; paint-order: stroke; }
.chart path { vector-effect: non-scaling-stroke; }
.chart-links { position: absolute; inset: 0; }
.chart-links rect { width: 1px; height: 100%; fill: transparent; } .chart-links a:hover rect { fill: var(--text); opacity: .15; }
.chart-numbers { font-size: .85rem; } .chart-numbers summary { color: var(--faint); cursor: pointer; }
.chart-numbers table { display: table; width: auto; margin: .4rem 0 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.chart-numbers th, .chart-numbers td { padding: .15rem .9rem .15rem 0; text-align: right; } .chart-numbers th:first-child { text-align: left; }
.timeline { margin: 0; padding: 0; list-style: none; }
.timeline li { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 1rem; }
.timeline div { padding: .25rem 0; font-size: .9rem; line-height: 1.35; overflow-wrap: anywhere; }
.timeline-label { font-weight: 600; } .timeline-words { color: var(--faint); }
.timeline svg { display: block; height: 100%; max-width: none; margin: 0; }
.timeline text { fill: var(--faint); font-size: 12px; font-variant-numeric: tabular-nums; }
.timeline .tick { stroke: var(--line); shape-rendering: crispEdges; } .timeline .now { stroke: var(--text); stroke-dasharray: 4 3; }
.segment.work { fill: var(--busy); stroke: var(--busy); } .segment.done { fill: var(--good); stroke: var(--good); }
.segment.wait { fill: var(--wait); stroke: var(--wait); } .segment.failed { fill: var(--bad); stroke: var(--bad); }
.segment.open { fill: none; stroke: var(--busy); stroke-width: 1.5; stroke-dasharray: 4 3; }
.chart .line { fill: none; stroke: var(--busy); stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.chart .points { fill: none; stroke: var(--busy); stroke-width: 5; stroke-linecap: round; } .chart .beyond { fill: var(--busy); }
.chart .usual-columns { fill: var(--faint); opacity: .35; }
.chart-legend { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .2rem 0 0; color: var(--faint); font-size: .8rem; }
.chart-legend span { display: inline-flex; align-items: center; gap: .25rem; } .chart-legend svg { display: block; margin: 0; }
.chart .attempt { stroke: var(--text); stroke-width: 1.5; }
.hotel-sketch { max-width: 26rem; } .hotel-sketch svg { display: block; width: 100%; margin: 0; }
.hotel-sketch text { fill: var(--text); font-size: 13px; } .hotel-sketch .map { fill: var(--ground); stroke: var(--line); }
.hotel-sketch .grid { stroke: var(--line); } .hotel-sketch .north { fill: none; stroke: var(--text); stroke-width: 1.5; }
.hotel-sketch .way { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 4; }
.hotel-sketch .hotel { fill: var(--busy); stroke: var(--ground); stroke-width: 2; } .hotel-sketch rect.hotel { fill: var(--wait); }
.hotel-sketch .hotel-name { font-weight: 700; text-anchor: middle; }
.hotel-sketch .distance { font-weight: 600; text-anchor: middle; stroke: var(--ground); stroke-width: 5; paint-order: stroke; }
.hotel-sketch figcaption { display: grid; margin: .4rem 0 0; overflow-wrap: anywhere; } .hotel-sketch figcaption strong { color: var(--text); }
.bars { margin: .5rem 0 0; padding: 0; max-width: 48rem; list-style: none; }
.bars li { display: grid; grid-template-columns: 12rem minmax(4rem, 1fr) 12rem; gap: .1rem .6rem; align-items: center; padding: .1rem 0; }
.bars svg { display: block; max-width: none; margin: 0; overflow: visible; }
.bar-label { color: var(--faint); text-align: right; overflow-wrap: anywhere; } .bar-value { font-variant-numeric: tabular-nums; }
.bar { fill: var(--busy); } .bar.other { fill: var(--line); stroke: var(--faint); } .usual { stroke: var(--text); stroke-width: 2; }
.shares li { grid-template-columns: 12rem minmax(4rem, 1fr) 18rem 6rem; } .shares { max-width: 64rem; } .shares .axis { stroke: var(--line); }
.shares .bar { opacity: .6; } .whisker { fill: none; stroke: var(--text); stroke-width: 1.5; }
.sparkline .line { fill: none; stroke: var(--busy); stroke-width: 1.5; stroke-linecap: round; }
.sparkline .base { stroke: var(--line); } .sparkline circle { fill: var(--busy); }
@media (max-width: 40rem) {
  .chart .spare { display: none; }
  .timeline li { display: block; } .timeline div { padding: .3rem 0 0; }
  .timeline svg { height: 44px; } .timeline li[aria-hidden] svg { height: 20px; }
  .bars li, .shares li { grid-template-columns: minmax(45%, 1fr) auto; padding: .25rem 0; } .bars svg { grid-area: 2 / 1 / 3 / 3; }
  .shares .bar-label, .shares .bar-value, .bars .sparkline { grid-area: auto; } .shares .bar-label { grid-column: 1 / 3; } .shares svg[aria-hidden] { grid-area: 3 / 1 / 4 / 3; }
  .bar-label { text-align: left; }
}
`;
