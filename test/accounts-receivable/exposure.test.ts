import { expect } from 'chai'
import fc from 'fast-check'
import {
  billFromFolios,
  createCustomer,
  createReceivable,
  issueReceivable,
  reinstateReceivable,
  voidReceivable,
  writeOffReceivable,
} from '../../db/accounts-receivable/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { chargeFolio, invoiceFolio, openFolio } from '../../db/reservations/index.ts'
import { makeUser } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('the exposure of a customer', function () {
  this.timeout(180_000)
  useWorld()

  it('is the sum of what is open, whatever happens in whatever order', async () => {
    const house = await makeHouse({ units: 1 })
    const { userId } = await makeUser({ [house.tenantId]: 'owner' })
    const inHouse = <T>(work: (trx: Trx) => Promise<T>) =>
      inTenant(house.tenantId, work, { actor: { type: 'user', id: userId } })
    const { customerId, companyId, accountId } = await inHouse(async (trx) => {
      const customer = await createCustomer(trx, {
        kind: 'company',
        legalName: 'Firma Ltda',
        currency: 'BRL',
        billing: 'monthly',
      })
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.3.08'`,
        [house.bookId],
      )
      return {
        customerId: customer,
        companyId: await createCompany(trx, { kind: 'company', legalName: 'Firma', customerId: customer }),
        accountId: account?.id ?? '',
      }
    })
    const pick = async (trx: Trx, statuses: string[], at: number): Promise<string | null> =>
      (
        await sqlOne<{ id: string }>(
          trx,
          `select id from receivable where customer_id = ? and status = any(?::text[]) order by md5(id::text || ?) limit 1`,
          [customerId, statuses, String(at)],
        )
      )?.id ?? null
    const moves: Record<string, (trx: Trx, at: number) => Promise<unknown>> = {
      draft: (trx, at) =>
        createReceivable(trx, {
          customerId,
          issuedOn: house.today,
          lines: [{ description: 'Hall', unitAmount: 1 + (at % 997), accountId }],
        }),
      issue: async (trx, at) => {
        const id = await pick(trx, ['draft'], at)
        if (id) await issueReceivable(trx, id, null, null)
      },
      number: async (trx, at) => {
        const id = await pick(trx, ['issuing'], at)
        if (id) await assignNumber(trx, 'receivable', id)
      },
      stay: async (trx, at) => {
        const folioId = await openFolio(trx, {
          propertyId: house.propertyId,
          kind: 'house',
          payerCompanyId: companyId,
        })
        await chargeFolio(trx, folioId, { category: 'other', description: 'Tour', unitAmount: 1 + (at % 991) })
        await invoiceFolio(trx, folioId, {})
      },
      collect: (trx) => billFromFolios(trx, { customerId, unbilledUntil: house.today }),
      void: async (trx, at) => {
        const id = await pick(trx, ['draft', 'unbilled', 'issued'], at)
        if (id) await voidReceivable(trx, id, 'A mistake', null)
      },
      writeOff: async (trx, at) => {
        const id = await pick(trx, ['issued'], at)
        if (id) await writeOffReceivable(trx, id, 'Lost', null)
      },
      reinstate: async (trx, at) => {
        const id = await pick(trx, ['written_off'], at)
        if (id) await reinstateReceivable(trx, id, 'Found', null)
      },
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...Object.keys(moves)), fc.nat(1_000_000)), { minLength: 20, maxLength: 40 }),
        async (steps) => {
          for (const [name, at] of steps) await inHouse((trx) => moves[name]!(trx, at))
          const found = await inHouse((trx) =>
            sqlOne<{ exposure: number; open: number }>(
              trx,
              `select c.exposure, (select coalesce(sum(r.total - r.settled - r.credited - r.written_off), 0)::bigint from receivable r
                 where r.customer_id = c.id and r.status in ('unbilled', 'issuing', 'issued', 'partly_paid')) as open
               from customer c where c.id = ?`,
              [customerId],
            ),
          )
          expect(found?.exposure).to.equal(found?.open)
        },
      ),
      { numRuns: 12 },
    )
  })
})
