import { readFileSync, readdirSync } from 'node:fs'
import { expect } from 'chai'
import type { FeatureKey } from '../../config/features.ts'
import { subjects } from '../../config/subjects.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { markDispatched } from '../../db/jobs/dispatch.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { jobs } from '../../jobs/all.ts'
import type { Job } from '../../jobs/job.ts'
import { processor } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'
import { processors } from '../../workers/processors.ts'
import { useDatabase } from '../support/database.ts'
import { makeTenant } from '../support/tenants.ts'
import { deliver } from './deliver.ts'
import { inTenantJob } from './support.ts'

/** Files of jobs/ that declare none, and modules that have no subject of their own, with the features they work for. */
const notModules = ['all', 'job']
const beside: Record<string, string[]> = {
  channels: ['channels'],
  documents: ['financial'],
  fiscal: ['financial'],
  jobs: [],
  'night-audit': [],
}

/** Jobs of a module with a feature that run without it, each with the reason. */
const runsWithout: Record<string, string> = {
  'channels.mark-dirty': 'marks are facts of the house; what is told of them is a push',
  'channels.apply-booking': 'a guest has booked: the stay is made',
  'channels.acknowledge': 'the channel is told that the booking is stored',
  'ledger.post': 'money that has moved is posted',
  'ledger.check-integrity': 'what is posted is proven',
  'ledger.assess-taxes': 'ends the close of a month that was asked for',
  'ledger.seal': 'ends the close of a month that was asked for',
  'ledger.close-year': 'ends the close of a year that was asked for',
  'ledger.assign-number': 'a paper that was issued gets its number, without a gap',
  'payments.cancel-pix-charge': 'ends a charge',
  'payments.expire-pix-charge': 'ends a charge',
  'payments.pull-pix': 'money has arrived',
  'payments.sync-pix': 'money has arrived',
  'payments.send-transfer': 'money that two people have sent on its way',
  'payments.read-transfer': 'money on its way',
  'payments.return-pix': 'money that goes back',
  'payments.send-fiscal': 'the law wants the paper of a sale that was made',
  'payments.read-fiscal': 'reads what became of a paper that was sent',
  'payments.cancel-fiscal': 'ends a paper',
  'payments.submit': 'a payer has paid, and was told so',
  'payments.read': 'money on its way',
  'payments.capture': 'money that is authorised',
  'payments.cancel': 'ends a payment',
  'payments.expire': 'ends a payment',
  'payments.refund': 'money that goes back',
  'payments.read-refund': 'money that goes back',
  'payments.close-account': 'ends an account',
  'payments.detach-method': 'ends a saved method',
  'payments.respond-dispute': 'money that was taken, and has a deadline',
  'payments.read-dispute': 'money that was taken',
  'payments.import-balance': 'money that was taken',
  'payments.reconcile': 'money that was taken',
  'inventory.settle-shortages': 'ends the arrival of stock that was booked',
  'messages.trigger': 'what it asks for expires at its sending; dated messages stay true to their stays',
  'messages.plan-stay': 'dated messages stay true to their stays; what falls due meanwhile expires at its sending',
  'messages.plan-automation':
    'dated messages stay true to their stays; what falls due meanwhile expires at its sending',
  'messages.deliver': 'ends the message itself as expired, so that it never goes later',
  'messages.expand-campaign': 'ends a campaign that nobody may send or stop any more',
  'messages.resolve-unknown': 'reads what became of a message that left',
  'messages.report-sandbox': 'says what became of a message that left',
  'messages.process-callback': 'says what became of a message that left; a guest may write and withdraw',
  'messages.stop-campaign': 'ends a campaign',
  'webhooks.deliver': 'drops what waits',
  'webhooks.replay': 'ends a replay: what it writes is dropped at its sending',
}

const featuresOf = (module: string): string[] =>
  beside[module] ?? [
    ...new Set(Object.values(subjects).flatMap((one) => (one.module === module && one.feature ? [one.feature] : []))),
  ]

/** Jobs that a file declares, by the names in its text. */
const declaredIn = (module: string): Job[] => {
  const text = readFileSync(new URL(`../../jobs/${module}.ts`, import.meta.url), 'utf8')
  return jobs.filter(({ name }) => text.includes(`'${name}'`))
}

const ofTenant = ({ payload }: Pick<Job, 'payload'>): boolean =>
  'tenantId' in ((payload as { properties?: Record<string, unknown> }).properties ?? {})

const modules = readdirSync(new URL('../../jobs', import.meta.url))
  .map((file) => file.replace('.ts', ''))
  .filter((file) => !notModules.includes(file))

describe('A job of a module with a feature', () => {
  it('names that feature, or stands here with the reason why it runs without', () => {
    const found: string[] = []
    const seen = new Set<string>()
    for (const module of modules) {
      const own = featuresOf(module)
      for (const { name, feature, ...job } of declaredIn(module)) {
        seen.add(name)
        const isListed = name in runsWithout
        if (feature === undefined) {
          // Jobs of the core, and those of the clock over all tenants, ask for no feature.
          const isAsked = own.length > 0 && !own.includes('core') && ofTenant(job)
          if (isAsked && !isListed) found.push(`${name} says nothing of ${own.join(', ')}`)
        } else if (!own.includes(feature)) found.push(`${name} names ${feature}, which its module has not`)
        else if (isListed) found.push(`${name} names a feature, and stands in the list`)
      }
    }
    expect(found).to.deep.equal([])
    expect(jobs.filter(({ name }) => !seen.has(name)).map(({ name }) => name)).to.deep.equal([])
    expect(Object.keys(runsWithout).filter((name) => !seen.has(name))).to.deep.equal([])
  })
})

describe('A job whose feature its tenant has not', () => {
  const held = useDatabase()
  let tenantId = ''

  before(async () => {
    tenantId = await makeTenant()
  })
  const revoke = (feature: FeatureKey) =>
    held.database.admin.raw(
      `update tenant set features = array_remove(features, ?), features_valid_until = null where id = ?`,
      [feature, tenantId],
    )
  const start = async (each: Processor, payload: object) => {
    const id = await inTenant(tenantId, (trx) => enqueue(trx, each.job, { ...payload, tenantId }))
    if (id === null) throw new Error(`${each.job.name} was not made`)
    await inPlatform(async (trx) => markDispatched(trx, [id]))
    return { id, outcome: await deliver(each, id, 1, 1, { tenantId, requestId: 'request-1', traceparent: null }) }
  }
  const reasonOf = async (id: string) =>
    (
      await inPlatform((trx) =>
        sql<{ reason: string | null }>(trx, `select reason from job_archive where id = ?`, [id]),
      )
    )[0]?.reason

  it('ends as skipped before its first effect, whatever the module', async () => {
    const payloads = JSON.parse(readFileSync(new URL('payloads.json', import.meta.url), 'utf8')) as Record<
      string,
      { version: number; payload: object }[]
    >
    const ended: Record<string, string> = {}
    const wanted: Record<string, string> = {}
    for (const each of processors) {
      const { feature, name, version } = each.job
      if (feature === undefined) continue
      await revoke(feature)
      const fixture = payloads[name]?.find((one) => one.version === version)
      const { id, outcome } = await start(each, fixture?.payload ?? {})
      ended[name] = `${outcome} ${await reasonOf(id)}`
      wanted[name] = 'skipped feature_not_enabled'
    }
    expect(ended).to.deep.equal(wanted)
    expect(Object.keys(ended).length).to.be.greaterThan(25)
  })

  it('goes no further from one of its parts to the next', async () => {
    tenantId = await makeTenant()
    const job = { ...inTenantJob, feature: 'financial' } as const
    const parts: number[] = []
    const each = processor(job, async ({ effect, inTenant: part, finish, payload }) => {
      await effect(async () => void parts.push(0))
      await part(payload.tenantId, async () => void parts.push(1))
      await revoke('financial')
      await part(payload.tenantId, async () => void parts.push(2))
      await finish()
    })
    const { id, outcome } = await start(each, { number: 1 })
    expect([outcome, await reasonOf(id), parts]).to.deep.equal(['skipped', 'feature_not_enabled', [0, 1]])
  })
})
