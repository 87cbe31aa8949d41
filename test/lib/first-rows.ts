import { sql } from '../../db/lib/connection.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { House } from '../support/factories.ts'

/** Makes an issue, a quote, and a budget with a line, to be copied: rows made from the types of their columns alone could not be read. */
export const makeFirstRows = async (house: House, owner: Desk): Promise<void> => {
  const { data } = done(await owner.get('issues/categories?limit=1'))
  const issue = { propertyId: house.propertyId, categoryId: data[0].id, title: 'A noise' }
  done(await owner.send('POST', 'issues', issue), 201)
  const { propertyId, unitTypeId, ratePlanId } = house
  const room = {
    unitTypeId,
    ratePlanId,
    arrival: house.day(30),
    departure: house.day(31),
    adults: 1,
    childrenAges: [],
  }
  done(await owner.send('POST', 'quotes', { propertyId, rooms: [room] }), 201)
  const fiscalYearId = done(await owner.get('financial/fiscal-years?limit=1')).data[0].id
  const budget = done(await owner.send('POST', 'financial/budgets', { fiscalYearId, propertyId, name: 'Plan' }), 201)
  const [account] = await house.inHouse((trx) =>
    sql<{ id: string }>(trx, `select id from account where class = 'revenue' and postable limit 1`),
  )
  const lines = [{ accountId: account?.id, periodNumber: 1, amount: 700 }]
  done(await owner.send('PUT', `financial/budgets/${budget.id}/lines`, { lines }))
}
