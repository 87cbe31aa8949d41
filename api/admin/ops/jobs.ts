import { queueNames } from '../../../config/queues.ts'
import { isUuid } from '../../../config/validator.ts'
import { jobStatuses, listJobs, mostCounted, subjectsOf } from '../../../db/jobs/index.ts'
import type { JobFilter } from '../../../db/jobs/index.ts'
import type { PlatformTrx } from '../../../db/lib/connection.ts'
import { schedules } from '../../../jobs/all.ts'
import { html } from '../html.ts'
import { base } from './layout.ts'
import { href, instant, jobLink, jobsOf, number, table, tag } from './parts.ts'
import type { Tone } from './parts.ts'
import { countField, field, uuidField } from './visit.ts'
import type { Page } from './visit.ts'

const limit = 25

export const toneOf = (status: string): Tone => {
  if (status === 'done') return 'good'
  if (['dead', 'failed', 'expired', 'missed'].includes(status)) return 'bad'
  return ['discarded', 'cancelled'].includes(status) ? 'warn' : ''
}

const select = (name: string, label: string, values: readonly string[], chosen: string | undefined) =>
  html`<div>
    <label for="${name}">${label}</label
    ><select id="${name}" name="${name}">
      <option value="">Any</option>
      ${values.map((value) => html`<option${value === chosen && html` selected`}>${value}</option>`)}
    </select>
  </div>`

/** Kinds that come by the clock. Their jobs are many, and a search rarely is for one of them. */
const clockKinds = schedules.map(({ job }) => job.name)

/** Ids from the first to the last that begin with the short form of tables. */
const idsOf = (short: string) => ({
  idFrom: `${short}-0000-0000-0000-000000000000`,
  idTo: `${short}-ffff-ffff-ffff-ffffffffffff`,
})

/** A hotel's words as a filter: a booking's number, an e-mail address, a payment's reference, an id or its short form. */
const filterOf = async (trx: PlatformTrx, said: string): Promise<Partial<JobFilter>> => {
  const text = said.toLowerCase()
  if (isUuid(text)) return { subjectIds: [text] }
  const subjectIds = await subjectsOf(trx, said)
  if (subjectIds.length > 0) return { subjectIds }
  if (/^[0-9a-f]{8}$/.test(text)) return idsOf(text)
  return said.includes('@') ? { subjectIds: [] } : { requestId: said }
}

export const find: Page = {
  path: '/jobs',
  show: async ({ trx, query }) => {
    const asked = {
      q: field(query, 'q', 254),
      queue: field(query, 'queue'),
      kindPrefix: field(query, 'kind', 100),
      status: field(query, 'status'),
      tenantId: uuidField(query, 'tenantId'),
      requestId: field(query, 'requestId', 64),
      subjectId: uuidField(query, 'subjectId'),
      errorText: field(query, 'errorText', 200),
    }
    const clock = field(query, 'clock') === '1'
    const { q, ...given } = asked
    const isNamed = [q, given.kindPrefix, given.requestId, given.subjectId].some((value) => value !== undefined)
    const filter: JobFilter = {
      ...given,
      ...(q === undefined ? {} : await filterOf(trx, q)),
      ...(clock || isNamed ? {} : { without: clockKinds }),
    }
    const again = {
      q,
      queue: given.queue,
      kind: given.kindPrefix,
      status: given.status,
      tenantId: given.tenantId,
      requestId: given.requestId,
      subjectId: given.subjectId,
      errorText: given.errorText,
      clock: clock ? '1' : undefined,
    }
    const page = countField(query, 'page', 10_000) ?? 1
    const { rows: jobs, total } = await listJobs(trx, { ...filter, page, limit })
    const input = (name: keyof typeof again, label: string, hint = '') =>
      html`<div>
        <label for="${name}">${label} <span class="hint">${hint}</span></label
        ><input
          id="${name}"
          name="${name}"
          maxlength="254"
          autocomplete="off"
          spellcheck="false"
          value="${again[name]}"
        />
      </div>`
    return {
      title: 'Search',
      place: '/jobs',
      body: html`<section>
          <h2>By what a hotel says</h2>
          <form class="fields" method="get" action="${base}/jobs">
            <div class="wide">
              ${input('q', 'Search', 'booking number, e-mail of a guest, payment, any id, or the short id of a table')}
            </div>
            ${input('kind', 'Kind', 'or how it begins, such as payments.')}
            ${input('errorText', 'Error', 'a part of its code or message')}
            ${input('requestId', 'Request', 'X-Request-Id of the reply')} ${input('tenantId', 'Tenant', 'its id')}
            ${select('queue', 'Queue', queueNames, given.queue)}
            ${select('status', 'Status', jobStatuses, given.status)}
            <div>
              <label class="check"
                ><input type="checkbox" name="clock" value="1" ${clock && html` checked`} /> Also what comes by the
                clock</label
              >
            </div>
            <div><button>Search</button></div>
          </form>
          <form class="line" method="get" action="${base}/job">
            <div>
              <label for="id">Or the whole id of a job</label
              ><input id="id" name="id" required maxlength="36" minlength="36" autocomplete="off" spellcheck="false" />
            </div>
            <button class="quiet">Show its timeline</button>
          </form>
        </section>
        <section>
          <h2>${jobsOf(total)}${total >= mostCounted && ' or more'}</h2>
          ${table(
            'What happened last stands first',
            [
              { label: 'Kind' },
              { label: 'Status' },
              { label: 'Made' },
              { label: 'Ended' },
              { label: 'Tries', isNumber: true },
              { label: 'Error' },
              { label: 'Job' },
            ],
            jobs.map((job) => [
              job.kind,
              tag(job.status, toneOf(job.status)),
              instant(job.createdAt),
              instant(job.finishedAt),
              number(job.attempts),
              job.error?.code ?? '',
              jobLink(job.id, job.id.slice(0, 8)),
            ]),
            'There is none.',
          )}
          <p class="buttons">
            ${page > 1 && html`<a href="${href('/jobs', { ...again, page: page - 1 })}">Newer</a> `}${total > page * limit && html`<a href="${href('/jobs', { ...again, page: page + 1 })}">Older</a>`}
          </p>
        </section>`,
    }
  },
}
