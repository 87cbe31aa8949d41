import { queueNames } from '../../../config/queues.ts'
import { jobStatuses, listJobs, mostCounted } from '../../../db/jobs/index.ts'
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

export const find: Page = {
  path: '/jobs',
  show: async ({ trx, query }) => {
    const filter = {
      queue: field(query, 'queue'),
      kind: field(query, 'kind', 100),
      status: field(query, 'status'),
      tenantId: uuidField(query, 'tenantId'),
      requestId: field(query, 'requestId', 64),
      subjectId: uuidField(query, 'subjectId'),
      errorCode: field(query, 'errorCode', 200),
    }
    const page = countField(query, 'page', 10_000) ?? 1
    const { rows: jobs, total } = await listJobs(trx, { ...filter, page, limit })
    const input = (name: Exclude<keyof typeof filter, 'queue' | 'status'>, label: string, hint = '') =>
      html`<div>
        <label for="${name}">${label} <span class="hint">${hint}</span></label
        ><input
          id="${name}"
          name="${name}"
          maxlength="200"
          autocomplete="off"
          spellcheck="false"
          value="${filter[name]}"
        />
      </div>`
    return {
      title: 'Find a job',
      place: '/jobs',
      body: html`<section>
          <h2>By its number</h2>
          <form class="line" method="get" action="${base}/job">
            <div>
              <label for="id">Id of the job</label
              ><input id="id" name="id" required maxlength="36" minlength="36" autocomplete="off" spellcheck="false" />
            </div>
            <button>Show its timeline</button>
          </form>
        </section>
        <section>
          <h2>By what is known of it</h2>
          <form class="fields" method="get" action="${base}/jobs">
            ${input('requestId', 'Request', 'X-Request-Id of the reply')}
            ${input('subjectId', 'Subject', 'an id in its payload')} ${input('tenantId', 'Tenant', 'its id')}
            ${input('kind', 'Kind')} ${input('errorCode', 'Error')}
            ${select('queue', 'Queue', queueNames, filter.queue)}
            ${select('status', 'Status', jobStatuses, filter.status)}
            <div><button>Find</button></div>
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
            ${page > 1 && html`<a href="${href('/jobs', { ...filter, page: page - 1 })}">Newer</a> `}${total > page * limit && html`<a href="${href('/jobs', { ...filter, page: page + 1 })}">Older</a>`}
          </p>
        </section>`,
    }
  },
}
