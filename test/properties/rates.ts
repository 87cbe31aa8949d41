import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import { useOwner } from './support.ts'
import type { Owned } from './support.ts'

type Day = {
  date: string
  amount: number | null
  source: string
  restrictions: Record<string, unknown>
  trace?: { kind: string; level: string; value: unknown }[]
}

const ratesOf = ({ world, house, owner }: Owned) => {
  const days = async (ratePlanId: string, from: number, to: number, more = '', unitTypeId = house().unitTypeId) => {
    const { status, body } = await owner().get(
      `rate-calendar?propertyId=${house().propertyId}&from=${house().day(from)}&to=${house().day(to)}&ratePlanId=${ratePlanId}&unitTypeId=${unitTypeId}${more}`,
    )
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.ratePlans[0].unitTypes[0].days as Day[]
  }
  const amounts = async (ratePlanId: string, from: number, to: number) =>
    (await days(ratePlanId, from, to)).map((day) => day.amount)
  const quote = (from: number, nights: number, ratePlanId = house().ratePlanId) =>
    world.request('POST', '/api/public/quotes', {
      body: {
        propertyId: house().propertyId,
        arrival: house().day(from),
        departure: house().day(from + nights),
        // Two adults are the base occupancy: ten per cent less is what one pays.
        rooms: [{ unitTypeId: house().unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras: [] }],
      },
    })
  const change = (items: unknown[], more: Record<string, unknown> = {}) =>
    owner().send('POST', 'rate-changes', { propertyId: house().propertyId, items, ...more })
  const item = (from: number, to: number, more: Record<string, unknown>) => ({
    from: house().day(from),
    to: house().day(to),
    ...more,
  })
  const count = async (table: string, condition = 'true') =>
    (
      await sqlOne<{ n: number }>(
        world.database.admin,
        `select count(*)::int as n from ${table} where tenant_id = '${house().tenantId}' and ${condition}`,
      )
    )?.n
  const policies = async () => {
    const { body } = await owner().get(`rate-plans/${house().ratePlanId}`)
    return { cancellationPolicyId: body.cancellationPolicyId, noShowPolicyId: body.noShowPolicyId } as const
  }
  const newPlan = async (code: string, more: Record<string, unknown> = {}) =>
    owner().send('POST', 'rate-plans', {
      propertyId: house().propertyId,
      code,
      name: { 'pt-BR': code },
      unitTypes: [{ unitTypeId: house().unitTypeId }],
      ...(await policies()),
      ...more,
    })
  const lower = (value: number) => ({ type: 'percent', value, roundTo: 1, mode: 'nearest' })
  return { days, amounts, quote, change, item, count, policies, newPlan, lower }
}

/** A house before each test, the desk of its owner, and what both are asked about rates. */
export const useRates = () => useOwner({ units: 4, suite: true }, { anew: true, more: ratesOf })
