/** What must be in no chart: a broken number, a style that the page's policy refuses. */
export const broken = /NaN|Infinity|undefined|null|\[object| style=|e-\d/;
