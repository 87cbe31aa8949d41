import { done } from '../stories/inn.ts'
import { until } from '../support/until.ts'
import type { SimulatedHouse } from './house.ts'

export type Audit = { house: SimulatedHouse; id: string }

/** Asks for the night audit of the open day. */
export const beginAudit = async (house: SimulatedHouse): Promise<Audit> => {
  const { group, propertyId, date: businessDate } = house
  const asked = await group.tenant.byKey('POST', 'night-audits', { propertyId, businessDate })
  return { house, id: done(asked, 201).id }
}

/** Waits for the end of a night audit, and gives the house its next day. */
export const endAudit = async ({ house, id }: Audit, work: () => Promise<void>): Promise<void> => {
  const { hand, tenant } = house.group
  const audit = await until(
    async () => {
      const found = done(await tenant.byKey('GET', `night-audits/${id}`))
      if (found.status === 'succeeded' || found.status === 'failed') return found
      await work()
      return false
    },
    { withinMs: 120_000, what: 'the end of the night audit' },
  )
  if (audit.status !== 'succeeded')
    hand.judge('GET', 'night-audits', { status: 500, body: { code: 'audit_failed', audit } })
  const { businessDate } = await hand.read(tenant.owner, `front-desk/summary?propertyId=${house.propertyId}`)
  house.date = businessDate
}
