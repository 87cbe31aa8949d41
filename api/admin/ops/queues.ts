import { lasting } from '../../../config/lasting.ts'
import { jobs as declared } from '../../../jobs/all.ts'
import { heldByGates, windowOf, lastHour, queueStates, pauseQueue, resumeQueue } from '../../../db/jobs/index.ts'
import type { QueueState, Pause, Scope } from '../../../db/jobs/index.ts'
import { notFound } from '../../../config/errors.ts'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { charts } from './chart.ts'
import { base } from './layout.ts'
import { facts, gateReason, hidden, href, instant, lineForm, number, reasonInput, table, tag } from './parts.ts'
import { countField, field, queueOf, uuidField } from './visit.ts'
import type { Action, Page } from './visit.ts'

const stateOf = ({ pauses, workers }: QueueState): Html => {
  const whole = pauses.some((pause) => pause.scope === 'queue')
  if (whole) return tag('paused', 'warn')
  if (pauses.length > 0) return tag(`paused in part (${pauses.length})`, 'warn')
  return workers === 0 ? tag('no worker', 'bad') : tag('working', 'good')
}

/** A count that leads to its jobs. */
const counted = (queue: string, status: string, count: number): Html =>
  html`<a href="${href('/jobs', { queue, status, clock: 1 })}">${number(count)}</a>`

const list: Page = {
  path: '/queues',
  show: async ({ trx }) => {
    const states = await queueStates(trx)
    return {
      title: 'Queues',
      isLive: true,
      place: '/queues',
      body: html`<section>
        ${table(
          html`Counted at ${instant(states[0]?.measuredAt ?? null)}. The name leads to the queue, its charts and pauses.`,
          [
            { label: 'Queue' },
            { label: 'State' },
            { label: 'Pending', isNumber: true },
            { label: 'Oldest', isNumber: true },
            { label: 'Scheduled', isNumber: true },
            { label: 'Dispatched', isNumber: true },
            { label: 'Running', isNumber: true },
            { label: 'Dead', isNumber: true },
            { label: 'Done a minute', isNumber: true },
            { label: 'Failed a minute', isNumber: true },
            { label: 'Workers', isNumber: true },
          ],
          states.map((state) => [
            html`<a href="${base}/queues/${state.queue}">${state.queue}</a>`,
            stateOf(state),
            counted(state.queue, 'pending', state.pending),
            lasting(state.oldestPendingSeconds),
            counted(state.queue, 'pending', state.waiting),
            counted(state.queue, 'dispatched', state.dispatched),
            counted(state.queue, 'running', state.running),
            state.dead === 0 ? '0' : html`<a href="${href('/dead', { queue: state.queue })}">${number(state.dead)}</a>`,
            counted(state.queue, 'done', state.perMinute.done),
            number(state.perMinute.failed),
            `${state.workers} (${state.concurrency} at once)`,
          ]),
          '',
        )}
      </section>`,
    }
  },
}

const nameOf = ({ scope, kind, tenantId, provider }: Pause): string =>
  scope === 'queue' ? 'the whole queue' : `${scope} ${kind ?? tenantId ?? provider ?? ''}`

const notes: Record<string, Html> = {
  paused: html`<p class="note warn" role="status">Paused. What runs finishes; nothing else starts.</p>`,
  resumed: html`<p class="note" role="status">Resumed.</p>`,
}

const one: Page = {
  path: '/queues/:queue',
  show: async ({ trx, params, query, formToken }) => {
    const queue = queueOf(params.queue)
    const state = (await queueStates(trx)).find((each) => each.queue === queue)
    if (!state) throw notFound()
    const minutes = await lastHour(trx, queue)
    const held = await heldByGates(trx, queue)
    const kinds = declared.filter((job) => job.queue === queue).map((job) => job.name)
    return {
      title: `Queue ${queue}`,
      place: '/queues',
      note: notes[query.get('done') ?? ''] ?? null,
      body: html`<section>
          <h2>Now ${stateOf(state)}</h2>
          ${facts([
            ['Pending', counted(queue, 'pending', state.pending)],
            ['Oldest', lasting(state.oldestPendingSeconds)],
            ['Scheduled', counted(queue, 'pending', state.waiting)],
            ['Dispatched', counted(queue, 'dispatched', state.dispatched)],
            ['Running', counted(queue, 'running', state.running)],
            ['Dead', html`<a href="${href('/dead', { queue })}">${number(state.dead)}</a>`],
            ['Done a minute', counted(queue, 'done', state.perMinute.done)],
            ['Failed a minute', number(state.perMinute.failed)],
            ['Workers', `${state.workers}`],
            ['At once', number(state.concurrency)],
            ['Window', number(windowOf(state.concurrency))],
            [
              'Last beat',
              state.lastBeatAt === null ? 'none' : html`<span class="small">${instant(state.lastBeatAt)}</span>`,
            ],
          ])}
        </section>
        <section>
          <h2>Why its jobs wait</h2>
          <ul>
            ${state.workers === 0 && html`<li>No live <a href="${base}/workers">worker</a> takes this queue.</li>`}
            ${state.pauses.map((pause) => html`<li>Paused: ${nameOf(pause)}, since ${instant(pause.since)}: ${pause.reason}</li> `)}
            ${held.map(
              (each) =>
                html`<li>
                  ${each.waiting >= 1000 && 'Over '}${number(each.waiting)} wait for the account
                  <a href="${base}/providers"><code>${each.gate}</code></a
                  >, which gets no calls since ${gateReason(each.reason)}; one job tries it at
                  ${instant(each.nextTryAt)}
                </li> `,
            )}
            ${state.waiting > 0 && html`<li>${number(state.waiting)} are scheduled for later.</li>`}
            ${
              state.workers > 0 &&
              state.pauses.length === 0 &&
              held.length === 0 &&
              html`<li>
                Nothing holds it back: ${number(state.running)} of ${number(state.concurrency)} places are in use.
              </li>`
            }
          </ul>
        </section>
        <section>
          <h2>Pauses</h2>
          ${table(
            'In force now',
            [
              { label: 'What' },
              { label: 'Since' },
              { label: 'Until' },
              { label: 'Reason' },
              { label: 'By' },
              { label: 'End it' },
            ],
            state.pauses.map((pause, place) => [
              nameOf(pause),
              instant(pause.since),
              pause.until === null ? 'resumed by hand' : instant(pause.until),
              pause.reason,
              `${pause.by.type} ${pause.by.id ?? ''}`,
              lineForm(`/queues/${queue}/resume`, `Resume ${nameOf(pause)}`, `resume-${place}`, {
                formToken,
                kind: pause.kind,
                tenantId: pause.tenantId,
                provider: pause.provider,
              }),
            ]),
            'Nothing is paused.',
          )}
          <h3>Pause</h3>
          <form class="fields" method="post" action="${base}/queues/${queue}/pause">
            ${hidden({ formToken })}
            <div>
              <label for="kind">Only one kind</label
              ><select id="kind" name="kind">
                <option value="">The whole queue</option>
                ${kinds.map((kind) => html`<option value="${kind}">${kind}</option>`)}
              </select>
            </div>
            <div>
              <label for="tenantId">Or only one tenant <span class="hint">its id</span></label
              ><input id="tenantId" name="tenantId" maxlength="36" autocomplete="off" />
            </div>
            <div>
              <label for="provider">Or only one provider <span class="hint">its name</span></label
              ><input id="provider" name="provider" maxlength="60" autocomplete="off" />
            </div>
            <div>
              <label for="minutes">Ends by itself after <span class="hint">minutes; empty: by hand</span></label
              ><input id="minutes" name="minutes" type="number" min="1" max="10080" inputmode="numeric" />
            </div>
            ${reasonInput('reason')}
            <div><button>Pause</button></div>
          </form>
        </section>
        ${charts(minutes, `the queue ${queue}`)}`,
    }
  },
}

const scopeOf = (queue: string | undefined, form: URLSearchParams): Scope => ({
  queue: queueOf(queue),
  kind: field(form, 'kind'),
  tenantId: uuidField(form, 'tenantId'),
  provider: field(form, 'provider', 60),
})

const pause: Action = {
  path: '/queues/:queue/pause',
  act: async ({ trx, params, form, reason }) => {
    const scope = scopeOf(params.queue, form)
    const minutes = countField(form, 'minutes', 10_080)
    const until = minutes === undefined ? null : new Date(Date.now() + minutes * 60_000)
    await pauseQueue(trx, scope, { reason, until })
    return href(`/queues/${scope.queue}`, { done: 'paused' })
  },
}

const resume: Action = {
  path: '/queues/:queue/resume',
  act: async ({ trx, params, form, reason }) => {
    const scope = scopeOf(params.queue, form)
    await resumeQueue(trx, scope, reason)
    return href(`/queues/${scope.queue}`, { done: 'resumed' })
  },
}

export const pages: Page[] = [list, one]
export const actions: Action[] = [pause, resume]
