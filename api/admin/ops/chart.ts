import { lasting } from '../../../config/lasting.ts'
import type { Minute } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { instant, number } from './parts.ts'

type Series = { label: string; tone: 'good' | 'bad' | 'plain'; of: (minute: Minute) => number }

const width = 360
const height = 120
const top = 16
const bottom = 18

/** Bars of the last hour, one per minute, the series upon one another; what they show is said in words too. */
const chart = (
  id: string,
  title: string,
  minutes: readonly Minute[],
  series: readonly Series[],
  said: (value: number) => string = number,
): Html => {
  const sums = minutes.map((minute) => series.reduce((sum, { of }) => sum + of(minute), 0))
  const most = Math.max(0, ...sums)
  const step = width / Math.max(1, minutes.length)
  const scale = (height - top - bottom) / Math.max(1, most)
  const bars = minutes.flatMap((minute, place) => {
    let floor = height - bottom
    return series.flatMap(({ of, tone }) => {
      const value = of(minute)
      if (value <= 0) return []
      const tall = Math.max(1, value * scale)
      floor -= tall
      return [
        html`<rect
          class="${tone}"
          x="${(place * step + 1).toFixed(1)}"
          y="${floor.toFixed(1)}"
          width="${(step - 1.5).toFixed(1)}"
          height="${tall.toFixed(1)}"
        />`,
      ]
    })
  })
  const last = sums.at(-1) ?? 0
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-text">
      <title id="${id}-title">${title}</title>
      <desc id="${id}-text">
        At most ${said(most)} in a minute of the last hour; ${said(last)} in the present one. The numbers stand in the
        table below.
      </desc>
      <text x="0" y="11">${said(most)}</text>
      <line class="axis" x1="0" x2="${width}" y1="${height - bottom}" y2="${height - bottom}" />
      ${bars}
      <text x="0" y="${height - 4}">an hour ago</text>
      <text x="${width}" y="${height - 4}" text-anchor="end">now</text>
    </svg>
    ${series.length > 1 ? html`<p class="key" aria-hidden="true">${series.map(({ label, tone }) => html`<span class="${tone}">${label}</span>`)}</p>` : null}`
}

/** The three charts of the last hour, and their numbers. */
export const charts = (minutes: readonly Minute[], of: string): Html =>
  html`<div class="columns">
      <section>
        <h2>Finished per minute</h2>
        ${chart('finished', `Jobs of ${of} finished and failed per minute`, minutes, [
          { label: 'done', tone: 'good', of: (minute) => minute.done },
          { label: 'failed', tone: 'bad', of: (minute) => minute.failed },
        ])}
      </section>
      <section>
        <h2>Waiting</h2>
        ${chart('waiting', `Jobs of ${of} that were due and not handed over`, minutes, [
          { label: 'pending', tone: 'plain', of: (minute) => minute.pending },
        ])}
      </section>
      <section>
        <h2>Age of the oldest</h2>
        ${chart(
          'oldest',
          `Age of the oldest job of ${of} that was due`,
          minutes,
          [{ label: 'age', tone: 'plain', of: (minute) => minute.oldestSeconds }],
          lasting,
        )}
      </section>
    </div>
    <details>
      <summary>The numbers of the last hour</summary>
      <div class="wrap" tabindex="0" role="region" aria-label="Numbers of the last hour">
        <table>
          <caption>
            Per minute, the newest first
          </caption>
          <thead>
            <tr>
              <th scope="col">Minute</th>
              <th scope="col" class="number">Done</th>
              <th scope="col" class="number">Failed</th>
              <th scope="col" class="number">Pending</th>
              <th scope="col" class="number">Running</th>
              <th scope="col" class="number">Oldest</th>
            </tr>
          </thead>
          <tbody>
            ${minutes.toReversed().map(
              (minute) =>
                html`<tr>
                  <th scope="row">${instant(minute.minute)}</th>
                  <td class="number">${number(minute.done)}</td>
                  <td class="number">${number(minute.failed)}</td>
                  <td class="number">${number(minute.pending)}</td>
                  <td class="number">${number(minute.running)}</td>
                  <td class="number">${lasting(minute.oldestSeconds)}</td>
                </tr> `,
            )}
          </tbody>
        </table>
      </div>
    </details>`
