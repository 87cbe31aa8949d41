import { expect } from 'chai'
import { firstPlanVersions, plans } from '../../config/plans.ts'
import type { Plan } from '../../config/plans.ts'
import { createTenant, grantEntitlement, revokeEntitlement } from '../../db/admin/index.ts'
import { periodEnd } from '../../db/admin/rules/periods.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sweepProvisions } from '../../jobs/admin.ts'
import { drain } from '../support/drain.ts'
import { useDatabase } from '../support/database.ts'

const given = {
  name: 'Casa',
  country: 'BR',
  currency: 'BRL',
  timeZone: 'America/Sao_Paulo',
  locale: 'pt-BR',
  billingEmail: 'billing@casa.example',
}
const make = (plan: Plan) => inPlatform(async (trx) => (await createTenant(trx, { ...given, plan })).tenantId)

describe('a billing period', () => {
  it('ends on the anchor day, or on the last day of a shorter month, and goes back to the anchor', () => {
    const days = ['2027-01-31']
    for (let n = 0; n < 3; n += 1) days.push(periodEnd(days.at(-1) ?? '', 31))
    expect(days).to.deep.equal(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30'])
    expect(periodEnd('2028-01-30', 30)).to.equal('2028-02-29')
    expect(periodEnd('2026-12-15', 15)).to.equal('2027-01-15')
  })
})

describe('a new tenant', () => {
  const held = useDatabase()
  const features = async (tenantId: string) => {
    const [row] = await sql<{ features: string[]; entitlementsVersion: number }>(
      held.database.admin,
      `select features, entitlements_version from tenant where id = ?`,
      [tenantId],
    )
    return row ?? { features: [], entitlementsVersion: -1 }
  }

  for (const plan of plans)
    it(`on ${plan} has the features of its plan, as PLAN_DEFAULT, and a book, all in one transaction`, async () => {
      const tenantId = await make(plan)
      const expected = firstPlanVersions[plan].features.map((feature) => feature.key).toSorted()
      expect((await features(tenantId)).features).to.deep.equal(expected)
      const grants = await sql<{ key: string; source: string }>(
        held.database.admin,
        `select key, source from entitlement_grant where tenant_id = ? order by key`,
        [tenantId],
      )
      expect(grants).to.deep.equal(expected.map((key) => ({ key, source: 'PLAN_DEFAULT' })))
      const books = await inTenant(tenantId, (trx) =>
        sql<{ currency: string }>(trx, `select currency from book where is_default`),
      )
      expect(books).to.deep.equal([{ currency: 'BRL' }])
      const entries = await sql(held.database.admin, `select action from audit_entry where chain = ?`, [tenantId])
      expect(entries).to.deep.equal([{ action: 'tenant.create' }])
    })

  it('is refused in a currency that the plan has no price in, and leaves nothing', async () => {
    const refused = await inPlatform((trx) =>
      createTenant(trx, { ...given, name: 'Nowhere', currency: 'JPY', plan: 'Starter' }),
    ).catch((error: unknown) => error)
    expect(refused).to.include({ status: 422, code: 'plan_without_price' })
    expect(await sql(held.database.admin, `select 1 from tenant where name = 'Nowhere'`)).to.deep.equal([])
  })

  it('has its features from grants alone: the service cannot write them', async () => {
    const tenantId = await make('Starter')
    const refused = await inPlatform((trx) =>
      sql(trx, `update tenant set features = '{pos}' where id = ?`, [tenantId]),
    ).catch((error: unknown) => error)
    expect(refused).to.include({ code: '42501' })
    const neither = await inPlatform((trx) =>
      sql(trx, `update tenant set entitlements_version = 9 where id = ?`, [tenantId]),
    ).catch((error: unknown) => error)
    expect(neither).to.include({ code: '42501' })
  })

  it('loses none of twenty grants and revokes that meet', async () => {
    const tenantId = await make('Starter')
    const before = await features(tenantId)
    const keys = ['pos', 'suppliers', 'api_read', 'api_write', 'sla', 'channels', 'webhooks', 'financial_overview']
    await Promise.all([
      ...keys.map((key) => inPlatform((trx) => grantEntitlement(trx, { tenantId, key, reason: 'a trial' }))),
      inPlatform((trx) => revokeEntitlement(trx, { tenantId, key: 'ocp', reason: 'not paid' })),
      inPlatform((trx) => revokeEntitlement(trx, { tenantId, key: 'portal', reason: 'not paid' })),
    ])
    const after = await features(tenantId)
    expect(after.features).to.deep.equal(
      [...before.features.filter((key) => !['ocp', 'portal'].includes(key)), ...keys].toSorted(),
    )
    expect(after.entitlementsVersion).to.equal(before.entitlementsVersion + keys.length + 2)
  })

  it('of an earlier release is given what this one starts tenants with, once, and keeps what it changed', async () => {
    const [old, other] = [await make('Starter'), await make('Starter')]
    const { admin } = held.database
    await admin.transaction(async (trx) => {
      // Published versions do not change, but for who set the database up.
      await trx.raw(`set local session_replication_role = replica`)
      for (const text of [
        `delete from automation where tenant_id = :old`,
        `delete from message_template_version where tenant_id = :old and template_id in (select id from message_template where key = 'thank-you')`,
        `delete from message_template where tenant_id = :old and key = 'thank-you'`,
        `update message_template set status = 'archived' where tenant_id = :old and key = 'payment-link'`,
        `update message_template set name = 'Our own' where tenant_id = :old and key = 'purchase-order'`,
        `delete from issue_category where tenant_id = :old and code = 'noise'`,
        `update issue_category set name = '{"en": "Our own"}' where tenant_id = :old and code = 'equipment'`,
        `update tenant set provisioned = null where id = :old`,
      ])
        await trx.raw(text, { old })
    })
    const state = async (tenantId: string) => ({
      templates: await sql(
        admin,
        `select t.key, t.name, t.status, v.status as version, v.contents from message_template t
         join message_template_version v on v.tenant_id = t.tenant_id and v.template_id = t.id where t.tenant_id = ? order by t.key, v.number`,
        [tenantId],
      ),
      categories: await sql(admin, `select code, name from issue_category where tenant_id = ? order by code`, [
        tenantId,
      ]),
    })
    const whole = await state(other)
    for (const _ of [1, 2]) {
      await inPlatform((trx) => enqueue(trx, sweepProvisions, {}))
      const ran = await drain({ kinds: ['maintenance.sweep-provisions', 'maintenance.provision-tenant'] })
      expect(ran.map(({ outcome }) => outcome)).to.deep.equal(ran.map(() => 'done'))
      const { templates, categories } = await state(old)
      expect(templates).to.deep.equal(
        whole.templates.map((one) => ({
          ...one,
          ...(one.key === 'payment-link' ? { status: 'archived' } : {}),
          ...(one.key === 'purchase-order' ? { name: 'Our own' } : {}),
        })),
      )
      expect(categories).to.deep.equal(
        whole.categories.map((one) => (one.code === 'equipment' ? { ...one, name: { en: 'Our own' } } : one)),
      )
    }
    const automations = await sql(admin, `select name from automation where tenant_id = ?`, [old])
    expect(automations, 'that of the template alone which came anew').to.deep.equal([{ name: 'Thanks after the stay' }])
    expect(await state(other)).to.deep.equal(whole)
  })

  it('is not seen by another tenant, nor are its grants', async () => {
    const [one, other] = [await make('Starter'), await make('Professional')]
    const seen = await inTenant(one, async (trx) => [
      await sql<{ id: string }>(trx, `select id from tenant`),
      await sql(trx, `select 1 from entitlement_grant where tenant_id = ?`, [other]),
    ])
    expect(seen).to.deep.equal([[{ id: one }], []])
  })
})
