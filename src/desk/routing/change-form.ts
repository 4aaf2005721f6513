import { html } from '../../text/html.js';
import type { ChangeAction, DeskVisit, Preview, View } from './route.js';

/** What would happen, and the form that makes it happen. */
export function renderChangeForm(
  action: Pick<ChangeAction, 'title' | 'reason'>,
  { title = action.title, lines, details, refusal, fields, button, back, ...preview }: Preview,
  { csrfToken, address }: DeskVisit,
): View {
  const { label, isRequired } = preview.reason ?? {
    label: 'Reason',
    isRequired: action.reason === 'required',
  };
  return {
    title,
    content: html`${lines.map((line) => html`<p>${line}</p>`)}${details}
${
  refusal === undefined
    ? html`<form class="change" method="post" action="${address}"><input type="hidden" name="token" value="${csrfToken ?? ''}">
${fields}<label>${label}${isRequired ? '' : ' (optional)'}<textarea name="reason" rows="2" maxlength="500"${isRequired ? html` required` : undefined}></textarea></label>
<p class="buttons"><button>${button}</button><a href="${back}">Back</a></p></form>`
    : html`<p class="card refusal">${refusal}</p><p><a href="${back}">Back</a></p>`
}`,
  };
}
