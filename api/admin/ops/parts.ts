import { credentialsRefused } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import type { Html, Part } from '../html.ts'
import { base } from './layout.ts'

/** `2026-11-21 14:15:03`; a dash for none. */
export const instant = (at: Date | string | null): Html => {
  if (at === null) return html`<span class="soft">–</span>`
  const text = new Date(at).toISOString()
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')}</time>`
}

/** `1 job`, `1,200 jobs`. */
export const jobsOf = (count: number): string => `${number(count)} ${count === 1 ? 'job' : 'jobs'}`

export const number = (value: number): string => value.toLocaleString('en-GB')

export type Tone = 'good' | 'warn' | 'bad' | ''
export const tag = (text: string, tone: Tone = ''): Html => html`<span class="tag ${tone}">${text}</span>`

export const jobLink = (id: string, text = id): Html => html`<a href="${base}/jobs/${id}"><code>${text}</code></a>`

/** An address under this base with the values that are there as its query. */
export const href = (path: string, query: Record<string, string | number | null | undefined> = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return `${base}${path}${search === '' ? '' : `?${search}`}`
}

export type Column = { label: string; isNumber?: boolean }
export type Cell = Part

const isNothing = (cell: Cell): boolean =>
  cell === '' || cell === null || cell === undefined || cell === false || (Array.isArray(cell) && cell.length === 0)

/**
 * A table whose rows are cards on a phone. The first cell of a row is its heading.
 * @param empty said in place of a table without rows.
 */
export const table = (caption: Part, columns: readonly Column[], rows: readonly Cell[][], empty: string): Html => {
  if (rows.length === 0) return html`<p class="soft">${empty}</p>`
  const kind = (place: number) => columns[place]?.isNumber && html` class="number"`
  return html`<div class="wrap">
    <table class="cards">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ label }, place) => html`<th scope="col" ${kind(place)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, place) => {
                if (place === 0) return html`<th scope="row">${cell}</th>`
                if (isNothing(cell)) return html`<td class="none"></td>`
                return html`<td data-label="${columns[place]?.label ?? ''}" ${kind(place)}><span>${cell}</span></td>`
              })}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

export type Fact = [string, Part]
export const facts = (given: readonly Fact[], plain = false): Html =>
  html`<dl class="facts${plain && ' plain'}">
    ${given.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl>`

/** Hidden fields that every form of an action needs. */
export const hidden = (fields: Record<string, string | number | null | undefined>): Html[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    value === null || value === undefined || value === ''
      ? []
      : [html`<input type="hidden" name="${name}" value="${value}" /> `],
  )

/** A form of one button in a row of a table, and why it is pressed; `id` is once per page. */
export const lineForm = (
  path: string,
  label: string,
  id: string,
  fields: Parameters<typeof hidden>[0],
  isQuiet = false,
): Html =>
  html`<form class="line" method="post" action="${base}${path}">
    ${hidden(fields)}
    <div>
      <label for="${id}">Reason</label>
      <input id="${id}" name="reason" required minlength="3" maxlength="500" autocomplete="off" />
    </div>
    <button${isQuiet && html` class="quiet"`}>${label}</button>
  </form>`

/** The input for the reason; `id` is once per page. */
export const reasonInput = (id: string, value = '', placeholder = ''): Html =>
  html`<div class="wide">
    <label for="${id}">Reason <span class="hint">3 to 500 characters, kept in the audit trail</span></label>
    <input
      id="${id}"
      name="reason"
      required
      minlength="3"
      maxlength="500"
      autocomplete="off"
      value="${value}"
      placeholder="${placeholder}"
    />
  </div>`

/** Why a gate lets no calls through, in words. */
export const gateReason = (reason: string | null): string =>
  reason === credentialsRefused
    ? 'it refuses our credentials'
    : `it is down or asks for a rest (${reason ?? 'no answer'})`
