import { lasting } from '../../../config/lasting.ts'
import { invalid } from '../../../config/errors.ts'
import { isUuid } from '../../../config/validator.ts'
import { listJobs, discardJobs, previewReplay, replayJobs, deadGroups } from '../../../db/jobs/index.ts'
import type { Selection } from '../../../db/jobs/index.ts'
import { html } from '../html.ts'
import type { Html } from '../html.ts'
import { base } from './layout.ts'
import { hidden, href, instant, jobLink, jobsOf, number, reasonInput, table } from './parts.ts'
import { countField, field, queueOf } from './visit.ts'
import type { Action, Asked, Page } from './visit.ts'

const mostGroups = 200
const shownJobs = 50
const mostAtOnce = 10_000

const noteOf = (query: URLSearchParams): Html | null => {
  const count = jobsOf(Number(query.get('count') ?? 0) || 0)
  const kept = Number(query.get('kept') ?? 0) || 0
  if (query.get('done') === 'replayed')
    return html`<p class="note" role="status">
      ${count} will run again.${kept > 0 && ` ${jobsOf(kept)} had to stay: another one has the key.`}
    </p>`
  if (query.get('done') === 'discarded')
    return html`<p class="note warn" role="status">Discarded for good: ${count}.</p>`
  return null
}

const groups: Page = {
  path: '/dead',
  show: async ({ trx, query }) => {
    const queue = field(query, 'queue')
    const found = (await deadGroups(trx, mostGroups)).filter((group) => queue === undefined || group.queue === queue)
    return {
      title: queue === undefined ? 'Dead letters' : `Dead letters of ${queue}`,
      place: '/dead',
      note: noteOf(query),
      body: html`${queue !== undefined && html`<p><a href="${base}/dead">Those of all queues</a></p>`}
        <section>
          ${table(
            'Jobs that were given up, by kind and error. The kind leads to the jobs, and to their replay.',
            [
              { label: 'Kind' },
              { label: 'Error' },
              { label: 'Jobs', isNumber: true },
              { label: 'Tenants', isNumber: true },
              { label: 'Queue' },
              { label: 'First' },
              { label: 'Last' },
              { label: 'Newest message' },
            ],
            found.map((group) => [
              html`<a href="${href('/dead/group', { queue: group.queue, kind: group.kind, error: group.errorCode })}"
                >${group.kind}</a
              >`,
              html`<code>${group.errorCode ?? 'none'}</code>`,
              number(group.count),
              number(group.tenants),
              group.queue,
              instant(group.firstAt),
              instant(group.lastAt),
              group.message ?? '',
            ]),
            'No job is dead.',
          )}
        </section>`,
    }
  },
}

/** Reads the group that a query or form names. */
const groupOf = (given: URLSearchParams) => ({
  queue: queueOf(given.get('queue')),
  kind: field(given, 'kind', 100),
  error: field(given, 'error', 200),
})

const selectionOf = (given: URLSearchParams): Selection => {
  const { queue, kind, error } = groupOf(given)
  return { filter: { queue, kind, errorCode: error }, limit: countField(given, 'limit', mostAtOnce) ?? mostAtOnce }
}

const group: Page = {
  path: '/dead/group',
  show: async ({ trx, query, formToken }) => {
    const { queue, kind, error } = groupOf(query)
    const filter = { status: 'dead', queue, kind, errorCode: error }
    const { rows: jobs, total } = await listJobs(trx, { ...filter, page: 1, limit: shownJobs })
    const isTried = query.get('try') === '1'
    const reason = field(query, 'reason', 500) ?? ''
    const limit = countField(query, 'limit', mostAtOnce) ?? Math.min(mostAtOnce, Math.max(1, total))
    const perMinute = countField(query, 'perMinute', 100_000)
    const tried = isTried ? await previewReplay(trx, selectionOf(query)) : null
    const names = { queue, kind, error }
    return {
      title: `Dead: ${kind ?? queue}`,
      place: '/dead',
      note: noteOf(query),
      body: html`<p><a href="${href('/dead', {})}">All dead letters</a></p>
        <section>
          <h2>Replay</h2>
          <p>
            ${jobsOf(total)}${total >= mostAtOnce && ' or more'} of <code>${kind ?? queue}</code> died of
            <code>${error ?? 'any error'}</code>. A replay begins their tries anew, the oldest first; what they did
            already is not done again.
          </p>
          <form class="fields" method="get" action="${base}/dead/group">
            ${hidden({ ...names, try: 1 })}
            <div>
              <label for="limit">At most so many</label
              ><input id="limit" name="limit" type="number" min="1" max="${mostAtOnce}" value="${limit}" required />
            </div>
            <div>
              <label for="perMinute">A minute <span class="hint">empty: all at once</span></label
              ><input id="perMinute" name="perMinute" type="number" min="1" max="100000" value="${perMinute}" />
            </div>
            ${reasonInput('reason', reason)}
            <div><button class="quiet">Try it first</button> <span class="hint">nothing changes</span></div>
          </form>
          ${
            tried &&
            html`<div class="note warn" role="status" id="tried">
              <p>
                <strong
                  >${jobsOf(tried.count)} would run
                  again${
                    perMinute !== undefined &&
                    tried.count > 1 &&
                    html`, the last one in ${lasting(((tried.count - 1) * 60) / perMinute)}`
                  }.</strong
                >${tried.kept > 0 && ` ${jobsOf(tried.kept)} would have to stay: another one has the key.`} Nothing has
                changed yet.
              </p>
              ${
                tried.count > 0 &&
                html`<form method="post" action="${base}/dead/replay">
                  ${hidden({ ...names, formToken, reason, limit, perMinute })}<button>
                    Replay ${jobsOf(tried.count)}
                  </button>
                </form>`
              }
            </div>`
          }
        </section>
        <section>
          <h2>Jobs</h2>
          <form method="post" action="${base}/dead/selected">
            ${hidden({ ...names, formToken })}
            ${table(
              total > jobs.length ? `The newest ${jobs.length} of ${number(total)}` : 'All of them',
              [
                { label: 'Job' },
                { label: 'Mark' },
                { label: 'Tenant' },
                { label: 'Made' },
                { label: 'Tries', isNumber: true },
                { label: 'Replayed', isNumber: true },
                { label: 'Message' },
              ],
              jobs.map((job) => [
                jobLink(job.id, job.id.slice(0, 8)),
                html`<label class="check"
                  ><input type="checkbox" name="jobId" value="${job.id}" aria-label="Mark ${job.id.slice(0, 8)}"
                /></label>`,
                job.tenantId === null ? 'none' : html`<code>${job.tenantId.slice(0, 8)}</code>`,
                instant(job.createdAt),
                number(job.attempts),
                number(job.history.filter(({ what }) => what === 'replayed').length),
                job.error?.message ?? '',
              ]),
              'None is dead any more.',
            )}
            ${
              jobs.length > 0 &&
              html`<div class="fields">
                ${reasonInput('reason-selected')}
                <div class="buttons">
                  <button name="verb" value="replay">Replay the marked</button>
                  <button class="bad" name="verb" value="discard">Discard the marked for good</button>
                </div>
              </div>`
            }
          </form>
        </section>`,
    }
  },
}

const replayGroup: Action = {
  path: '/dead/replay',
  act: async ({ trx, form, reason }) => {
    const { count, kept } = await replayJobs(trx, {
      selection: selectionOf(form),
      reason,
      perMinute: countField(form, 'perMinute', 100_000),
    })
    return href('/dead', { done: 'replayed', count, kept })
  },
}

const ids = (form: URLSearchParams): string[] => {
  const found = [...new Set(form.getAll('jobId'))]
  if (found.length === 0 || found.length > shownJobs || !found.every(isUuid))
    throw invalid([{ field: 'jobId', message: `mark 1 to ${shownJobs} jobs` }])
  return found
}

/** The marked jobs of a group, or the one of its own page: `back` says where the form stood. */
const replayOrDiscard = async (
  { trx, form, reason }: Asked,
  back: (query: Record<string, string | number>) => string,
): Promise<string> => {
  if (form.get('verb') === 'discard')
    return back({ done: 'discarded', count: await discardJobs(trx, ids(form), reason) })
  const { count, kept } = await replayJobs(trx, { selection: { jobIds: ids(form) }, reason })
  return back({ done: 'replayed', count, kept })
}

const selected: Action = {
  path: '/dead/selected',
  act: (asked) => {
    const { queue, kind, error } = groupOf(asked.form)
    return replayOrDiscard(asked, (query) => href('/dead/group', { queue, kind, error, ...query }))
  },
}

const single: Action = {
  path: '/jobs/:jobId/act',
  act: (asked) => {
    const jobId = asked.params.jobId ?? ''
    asked.form.set('jobId', jobId)
    return replayOrDiscard(asked, (query) => href(`/jobs/${jobId}`, query))
  },
}

export const pages: Page[] = [groups, group]
export const actions: Action[] = [replayGroup, selected, single]
export { noteOf as replayNote }
