import { lasting } from '../../../config/lasting.ts'
import { jobs as declared } from '../../../jobs/all.ts'
import { notFound } from '../../../config/errors.ts'
import { isUuid } from '../../../config/validator.ts'
import { eventsOfRequest, readTimeline, whyWaits } from '../../../db/jobs/index.ts'
import type { EventRecord, JobRecord, Timeline, HistoryEntry, WaitCause } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import type { Html, Part } from '../html.ts'
import { replayNote } from './dead.ts'
import { toneOf } from './jobs.ts'
import { askForm, isOfMoney } from './providers.ts'
import { base } from './layout.ts'
import { facts, gateReason, hidden, href, instant, jobLink, number, reasonInput, tag } from './parts.ts'
import type { Tone } from './parts.ts'
import type { Page } from './visit.ts'

type Moment = { at: Date; tone: Tone; text: Part }

const fromHistory = (entry: HistoryEntry): Moment => {
  const at = new Date(entry.at)
  if (entry.what === 'replayed')
    return {
      at,
      tone: 'warn',
      text: html`Replayed by ${entry.by.type} <code>${entry.by.id ?? ''}</code>:
        ${entry.reason}${entry.of !== null && html`, as a new job of ${jobLink(entry.of)}`}`,
    }
  const next = entry.waitMs === null ? '' : `; the next try after ${lasting(entry.waitMs / 1000)}`
  return {
    at,
    tone: 'bad',
    text: html`${entry.what === 'died' ? 'Given up' : `Try ${entry.attempts} failed`}:
      <code>${entry.code}</code> ${entry.message} <br /><span class="soft small"
        >dispatch ${entry.dispatchNo}, delivery
        ${entry.delivery}${entry.worker !== null && `, ${entry.worker}`}${next}</span
      >`,
  }
}

const causeOf = (each: WaitCause): Part => {
  switch (each.cause) {
    case 'not_due':
      return html`It is due at ${instant(each.until)}.`
    case 'paused': {
      const { scope, queue, kind, tenantId, provider, reason, since } = each.pause
      return html`The
        <a href="${base}/queues${queue === null ? '' : `/${queue}`}"
          >${scope} ${kind ?? tenantId ?? provider ?? queue ?? ''}</a
        >
        is paused since ${instant(since)}: ${reason}.`
    }
    case 'no_calls':
      return html`Its account <a href="${base}/providers"><code>${each.gate}</code></a> gets no calls now, since
        ${gateReason(each.reason)}. One job tries it at ${instant(each.nextTryAt)}.`
    case 'rate':
      return html`<a href="${base}/providers"><code>${each.gate}</code></a> takes ${number(each.perSecond)} a second.`
    case 'no_worker':
      return html`No live <a href="${base}/workers">worker</a> takes the queue ${each.queue}.`
    case 'place':
      return `It is dispatched, and starts when a worker has a free place: ${number(each.running)} of ${number(each.atOnce)} are in use.`
    case 'turn':
      return `Nothing holds it back: ${each.isMore ? 'over ' : ''}${number(each.before)} due jobs of the same tenant go before it, and ${number(each.inRedis)} of the queue are dispatched. Tenants take turns.`
  }
}

const waiting = (causes: readonly WaitCause[]): Html | null =>
  causes.length === 0
    ? null
    : html`<section>
        <h2>Why it waits</h2>
        <ul>
          ${causes.map((each) => html`<li>${causeOf(each)}</li> `)}
        </ul>
      </section>`

const presently = (job: JobRecord): Moment[] => {
  const until = job.leasedUntil
  if (job.status === 'running')
    return [
      {
        at: new Date(),
        tone: '',
        text: html`Runs at <code>${job.worker}</code>, which must be heard of until ${instant(until)}`,
      },
    ]
  if (job.status === 'dispatched')
    return [{ at: new Date(), tone: '', text: html`Dispatched, and due at ${instant(job.runAt)}` }]
  return job.status === 'pending'
    ? [{ at: new Date(), tone: '', text: html`Waits in PostgreSQL, due at ${instant(job.runAt)}` }]
    : []
}

/** Starts that neither ended nor came back. */
const deathsOf = ({ starts, attempts, status }: JobRecord): number =>
  Math.max(0, starts - attempts - (['running', 'done', 'skipped'].includes(status) ? 1 : 0))

const ran = (from: Date, to: Date): string => lasting(Math.max(0, to.getTime() - from.getTime()) / 1000)

const endOf = ({ status, reason, startedAt }: JobRecord, finishedAt: Date): string =>
  [`Ended: ${status}`, reason, startedAt === null ? null : `after ${ran(startedAt, finishedAt)}`]
    .filter((part) => part !== null)
    .join(', ')

const moments = ({ job, calls, audits, related }: Timeline, events: EventRecord[]): Moment[] => {
  const found: Moment[] = [
    {
      at: job.createdAt,
      tone: '',
      text: html`Asked for by ${job.actor.type} <code>${job.actor.id ?? ''}</code> in the request
        <a href="${href('/jobs', { requestId: job.requestId })}"><code>${job.requestId}</code></a>`,
    },
    ...job.history.map(fromHistory),
    ...(deathsOf(job) === 0
      ? []
      : [
          {
            at: job.startedAt ?? job.runAt,
            tone: 'bad' as Tone,
            text: html`${number(deathsOf(job))} ${deathsOf(job) === 1 ? 'start' : 'starts'} ended without a word: the
            process died or was lost`,
          },
        ]),
    ...calls.flatMap((call): Moment[] => [
      {
        at: call.firstStartedAt,
        tone: '',
        text: html`Call to ${call.provider}:
        ${call.operation}${call.tries > 1 && `, ${call.tries} times, the last at `}${call.tries > 1 && instant(call.startedAt)}`,
      },
      ...(call.finishedAt === null
        ? []
        : [
            {
              at: call.finishedAt,
              tone: (call.state === 'succeeded' ? 'good' : 'bad') as Tone,
              text: html`${call.provider} ${call.operation}: ${call.state} after ${ran(call.startedAt, call.finishedAt)}
              ${call.code}${call.httpStatus !== null && ` (HTTP ${call.httpStatus})`}${call.answerReference !== null && html`, their <code>${call.answerReference}</code>`}`,
            },
          ]),
    ]),
    ...audits.map((entry): Moment => ({
      at: entry.at,
      tone: '',
      text: html`In the audit trail: ${entry.action} of ${entry.subjectType}
        <code>${entry.subjectId ?? ''}</code>${entry.reason !== null && html`: ${entry.reason}`}`,
    })),
    ...events.map((event): Moment => ({
      at: event.at,
      tone: 'good',
      text: html`Event ${event.type} of ${event.entity.type} <code>${event.entity.id}</code>`,
    })),
    ...related.flatMap((other): Moment[] => [
      {
        at: other.createdAt,
        tone: '',
        text: html`Also asked for: ${other.kind} ${jobLink(other.id, other.id.slice(0, 8))}
        ${tag(other.status, toneOf(other.status))}`,
      },
    ]),
    ...(job.startedAt === null
      ? []
      : [
          {
            at: job.startedAt,
            tone: '' as Tone,
            text: html`The last start, at <code>${job.worker ?? 'a process that did not say'}</code>`,
          },
        ]),
    ...(job.finishedAt === null
      ? []
      : [
          {
            at: job.finishedAt,
            tone: toneOf(job.status),
            text: endOf(job, job.finishedAt),
          },
        ]),
    ...presently(job),
  ]
  return found.toSorted((one, other) => one.at.getTime() - other.at.getTime())
}

const actForm = (job: JobRecord, formToken: string): Html | null => {
  const isDead = job.status === 'dead'
  const mayRepeat = job.status === 'done' && declared.some((kind) => kind.name === job.kind && kind.replayable)
  if (!isDead && !mayRepeat) return null
  return html`<section>
    <h2>Act</h2>
    <form class="fields" method="post" action="${base}/jobs/${job.id}/act">
      ${hidden({ formToken })}${reasonInput('reason')}
      <div class="buttons">
        <button name="verb" value="replay">${isDead ? 'Replay' : 'Run again as a new job'}</button>
        ${isDead && html`<button class="bad" name="verb" value="discard">Discard for good</button>`}
      </div>
    </form>
  </section>`
}

export const job: Page = {
  path: '/jobs/:jobId',
  show: async ({ trx, params, query, formToken }) => {
    const jobId = (params.jobId ?? '').toLowerCase()
    if (!isUuid(jobId)) throw notFound('There is no such job')
    const timeline = await readTimeline(trx, jobId)
    const { job: record } = timeline
    const causes = await whyWaits(trx, jobId)
    const events = record.tenantId === null ? [] : await eventsOfRequest(record.tenantId, record.requestId)
    const acting = actForm(record, formToken)
    const unheard = timeline.calls.filter(
      (call) => isOfMoney(call) && (call.state === 'unknown' || call.state === 'started'),
    )
    return {
      title: record.kind,
      ...(acting === null && unheard.length === 0 ? { isLive: true } : {}),
      place: '/jobs',
      note: replayNote(query),
      body: html`<section>
          <h2>The row ${tag(record.status, toneOf(record.status))}</h2>
          ${facts(
            [
              ['Job', html`<code>${record.id}</code>`],
              ['Queue', html`<a href="${base}/queues/${record.queue}">${record.queue}</a>, ${record.class}`],
              [
                'Tenant',
                record.tenantId === null
                  ? 'none'
                  : html`${record.tenantName ?? 'deleted'} <code class="small">${record.tenantId}</code>`,
              ],
              ['Due', instant(record.runAt)],
              ['Dispatched', `${number(record.dispatchNo)} times`],
              ['Starts', number(record.starts)],
              ['Failed tries', number(record.attempts)],
              ['Unique key', record.uniqueKey === null ? 'none' : html`<code>${record.uniqueKey}</code>`],
              ['Trace', record.traceparent === null ? 'none' : html`<code class="small">${record.traceparent}</code>`],
            ],
            true,
          )}
          <h3>Payload <span class="soft small">version ${record.version}, ids alone</span></h3>
          <pre tabindex="0">${JSON.stringify(record.payload, null, 2)}</pre>
          ${
            record.lastError !== null &&
            html`<h3>Last error</h3>
              <p><code>${record.lastError.code}</code> ${record.lastError.message}</p>
              ${
                record.lastError.stack !== null &&
                html`<details>
                  <summary>Where it was thrown</summary>
                  <pre tabindex="0">${record.lastError.stack}</pre>
                </details>`
              }`
          }
        </section>
        ${waiting(causes)} ${acting}
        ${unheard.map(
          (call, place) =>
            html`<section>
              <h2>Without an outcome: ${call.provider} ${call.operation}</h2>
              ${askForm(call.id, `ask-${place}`, formToken)}
            </section> `,
        )}
        <section>
          <h2>Timeline</h2>
          <ol class="timeline">
            ${moments(timeline, events).map(
              (moment) =>
                html`<li class="${moment.tone}">
                  <p class="soft small">${instant(moment.at)}</p>
                  <p>${moment.text}</p>
                </li> `,
            )}
          </ol>
        </section>`,
    }
  },
}
