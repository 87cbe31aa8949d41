import { jobs as declared } from '../../../jobs/all.ts'
import {
  kindGate,
  listGates,
  listUnresolvedCalls,
  callsOfLastHour,
  limitGate,
  listPauses,
  pauseProvider,
  reopenGate,
  resumeProvider,
} from '../../../db/jobs/index.ts'
import type { Gate, Pause } from '../../../db/jobs/index.ts'
import { askNow } from '../../../db/payment/index.ts'
import { invalid } from '../../../config/errors.ts'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { base } from './layout.ts'
import { gateReason, hidden, href, instant, jobLink, lineForm, number, reasonInput, table, tag } from './parts.ts'
import { countField, field, uuidField } from './visit.ts'
import type { Action, Page } from './visit.ts'

const notes: Record<string, Html> = {
  paused: html`<p class="note warn" role="status">Paused. Its jobs wait in PostgreSQL.</p>`,
  resumed: html`<p class="note" role="status">Resumed.</p>`,
  limited: html`<p class="note" role="status">The rate is set.</p>`,
  asking: html`<p class="note" role="status">The gateway is being asked already.</p>`,
  opened: html`<p class="note" role="status">The gate is open.</p>`,
}

const gateState = (gate: Gate): Html =>
  gate.state === 'open'
    ? tag('takes calls', 'good')
    : html`${tag('gets no calls', 'bad')}
        <span class="small">${gateReason(gate.reason)}; one job tries at ${instant(gate.closedUntil)}</span>`

const page: Page = {
  path: '/providers',
  show: async ({ trx, query, formToken }) => {
    const [calls, gates, pauses] = [await callsOfLastHour(trx), await listGates(trx), await listPauses(trx)]
    const open = await listUnresolvedCalls(trx)
    const pauseOf = (provider: string): Pause | undefined =>
      pauses.find((pause) => pause.scope === 'provider' && pause.queue === null && pause.provider === provider)
    const known = [...new Set([...calls.map((row) => row.provider), ...gates.map((gate) => gate.provider)])]
      .filter((provider) => provider !== 'kind')
      .toSorted()
    return {
      title: 'Providers',
      place: '/providers',
      note: notes[query.get('done') ?? ''] ?? null,
      body: html`<section>
          <h2>Calls of the last hour</h2>
          ${table(
            'What was asked of each provider, and what came of it. Unknown ones are looked up, and never taken for failed or done.',
            [
              { label: 'Provider' },
              { label: 'State' },
              { label: 'Calls', isNumber: true },
              { label: 'Succeeded', isNumber: true },
              { label: 'Failed', isNumber: true },
              { label: 'Unknown', isNumber: true },
              { label: 'Under way', isNumber: true },
              { label: 'Change' },
            ],
            known.map((provider, place) => {
              const row = calls.find((each) => each.provider === provider)
              const paused = pauseOf(provider)
              const fields = { formToken, provider }
              return [
                provider,
                paused
                  ? html`${tag('paused', 'warn')} <span class="small">${paused.reason}</span>`
                  : gates.some((gate) => gate.provider === provider && gate.state === 'closed')
                    ? tag(
                        `${gates.filter((gate) => gate.provider === provider && gate.state === 'closed').length} without calls`,
                        'bad',
                      )
                    : tag('takes calls', 'good'),
                number(row?.calls ?? 0),
                number(row?.succeeded ?? 0),
                number(row?.failed ?? 0),
                number(row?.unknown ?? 0),
                number(row?.open ?? 0),
                paused
                  ? lineForm('/providers/resume', `Resume ${provider}`, `provider-${place}`, fields)
                  : lineForm('/providers/pause', `Pause ${provider}`, `provider-${place}`, fields, true),
              ]
            }),
            'No provider was ever called.',
          )}
        </section>
        <section>
          <h2>Without an outcome</h2>
          ${table(
            'Calls of which nobody knows, five minutes later, what the other side did, the oldest first. Those of payments stand here until it is known, all others for two hours. Their jobs say for which record.',
            [
              { label: 'Job' },
              { label: 'Provider' },
              { label: 'Operation' },
              { label: 'Last tried' },
              { label: 'Tries', isNumber: true },
              { label: 'What came' },
              { label: 'Ask' },
            ],
            open.map((call, place) => [
              jobLink(call.jobId, call.jobId.slice(0, 8)),
              call.provider,
              call.operation,
              instant(call.startedAt),
              number(call.tries),
              call.code ?? (call.state === 'started' ? 'nothing: its process may have died' : 'nothing'),
              isOfMoney(call) && askForm(call.id, `ask-${place}`, formToken),
            ]),
            'Every call has an outcome.',
          )}
        </section>
        <section>
          <h2>Gates</h2>
          ${table(
            'One per account, and per kind that has a rate. Failures in a row, or a provider that asks for it, close that account alone; it opens again by itself.',
            [
              { label: 'Account' },
              { label: 'State' },
              { label: 'Failures in a row', isNumber: true },
              { label: 'Closed so often', isNumber: true },
              { label: 'At most a second', isNumber: true },
              { label: 'Last success' },
              { label: 'Last failure' },
              { label: 'Change' },
            ],
            gates.map((gate, place) => [
              html`<code>${gate.gate}</code>`,
              gateState(gate),
              number(gate.failures),
              number(gate.closures),
              gate.ratePerSecond === null ? 'no limit' : number(gate.ratePerSecond),
              instant(gate.lastSuccessAt),
              instant(gate.lastFailureAt),
              gate.state === 'closed' &&
                lineForm('/providers/open', 'Open the gate now', `gate-${place}`, { formToken, gate: gate.gate }),
            ]),
            'No account has a gate yet.',
          )}
        </section>
        <section>
          <h2>Rates</h2>
          ${rateForm(gates, formToken)}
        </section>`,
    }
  },
}

/** Asks the gateway what became of a call; also on the page of the call's job. */
export const askForm = (callId: string, id: string, formToken: string): Html =>
  lineForm('/providers/ask', 'Ask the gateway now', id, { formToken, callId })
export const isOfMoney = ({ operation }: { operation: string }): boolean =>
  ['submit', 'cancel', 'refund'].includes(operation)

const named = (form: URLSearchParams, name: string): string => {
  const text = field(form, name, 120)
  if (text === undefined) throw invalid([{ field: name, message: 'is missing' }])
  return text
}

const rateForm = (gates: readonly Gate[], formToken: string): Html => {
  const kinds = declared.map((job) => kindGate(job.name))
  const names = [...new Set([...gates.map((gate) => gate.gate), ...kinds])].toSorted()
  return html`<form class="fields" method="post" action="${base}/providers/rate">
    ${hidden({ formToken })}
    <div class="wide">
      <label for="gate">Account or kind</label>
      <select id="gate" name="gate">
        ${names.map((name) => html`<option>${name}</option>`)}
      </select>
    </div>
    <div>
      <label for="perSecond">At most a second <span class="hint">empty: no limit</span></label>
      <input id="perSecond" name="perSecond" type="number" min="1" max="100000" inputmode="numeric" />
    </div>
    ${reasonInput('reason')}
    <div><button>Set the rate</button></div>
  </form>`
}

const rate: Action = {
  path: '/providers/rate',
  act: async ({ trx, form, reason }) => {
    await limitGate(trx, named(form, 'gate'), countField(form, 'perSecond', 100_000) ?? null, reason)
    return href('/providers', { done: 'limited' })
  },
}
const pause: Action = {
  path: '/providers/pause',
  act: async ({ trx, form, reason }) => {
    await pauseProvider(trx, named(form, 'provider'), { reason })
    return href('/providers', { done: 'paused' })
  },
}
const resume: Action = {
  path: '/providers/resume',
  act: async ({ trx, form, reason }) => {
    await resumeProvider(trx, named(form, 'provider'), reason)
    return href('/providers', { done: 'resumed' })
  },
}
const open: Action = {
  path: '/providers/open',
  act: async ({ trx, form, reason }) => {
    await reopenGate(trx, named(form, 'gate'), reason)
    return href('/providers', { done: 'opened' })
  },
}

const ask: Action = {
  path: '/providers/ask',
  act: async ({ trx, form, reason }) => {
    const callId = uuidField(form, 'callId')
    if (callId === undefined) throw invalid([{ field: 'callId', message: 'is missing' }])
    const jobId = await askNow(trx, callId, reason)
    return jobId === null ? href('/providers', { done: 'asking' }) : href(`/jobs/${jobId}`)
  },
}

export const pages: Page[] = [page]
export const actions: Action[] = [pause, resume, open, rate, ask]
