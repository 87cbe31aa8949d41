import { expect } from 'chai'
import { chargeFolio, openFolio } from '../../db/reservations/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('a bill of many folios', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('takes 200 of them in as many statements as two', async () => {
    const a = await openReceivables(world)
    const { id: customerId } = await a.customer({})
    const companyId = await a.house.inHouse((trx) =>
      createCompany(trx, { kind: 'company', legalName: 'Firma', customerId }),
    )
    const folios = (count: number) =>
      a.house.inHouse(async (trx) => {
        const ids: string[] = []
        for (let made = 0; made < count; made += 1) {
          const id = await openFolio(trx, {
            propertyId: a.house.propertyId,
            kind: 'house',
            payerCompanyId: companyId,
          })
          await chargeFolio(trx, id, { category: 'other', description: 'Tour', unitAmount: 100 + made })
          ids.push(id)
        }
        return ids
      })
    const bill = async (folioIds: string[]) => {
      let id = ''
      const statements = await statementsOf(async () => {
        id = (await a.good(a.finance, 'POST', `${a.path}/receivables/from-folios`, { customerId, folioIds })).id
      })
      return { id, statements }
    }
    await bill(await folios(1))
    const few = await bill(await folios(2))
    const many = await bill(await folios(200))
    expect(many.statements.length, many.statements.join('\n')).to.equal(few.statements.length)
    // The command's own: from its first look at the folios to its postings, and its events and jobs, which go with the commit. The reply and the care for the
    // request stand around them.
    const first = many.statements.findIndex((text) => text.startsWith('select id, property_id from folio'))
    const last = many.statements.findLastIndex((text) => text.includes('insert into posting_event'))
    const told = many.statements.filter((text) => /insert into (event|jobs) /.test(text))
    expect(first, many.statements.join('\n')).to.be.greaterThan(0)
    expect(last).to.be.greaterThan(first)
    expect(last - first + 1 + told.length, many.statements.join('\n')).to.be.at.most(20)
    await world.drain()
    const invoice = await a.read(many.id)
    expect(invoice.total).to.equal(200 * 100 + (199 * 200) / 2)
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
  })
})
