import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createCashAccount } from '../../db/cash/index.ts'
import { addDocument, createGuest } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('fiscal documents of folios', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let bankId: string

  const send = (path: string, body: object = {}) => owner.send('POST', path, body, { idempotencyKey: randomUUID() })
  const fiscal = { adapter: 'sandbox', cityCode: '3303807', serviceCode: '0901', issRate: 300, automatic: true }
  const one = async (folioId: string): Promise<Parsed> => {
    await world.drain()
    const { data } = done(await owner.get(`accounts-receivable/fiscal-documents?folioId=${folioId}`))
    expect(data).to.have.length(1)
    return done(await owner.get(`accounts-receivable/fiscal-documents/${data[0].id}`))
  }
  /** A folio with a charge that was paid. */
  const folio = async (): Promise<string> => {
    const { propertyId } = house
    const id = await house.inHouse((trx) => openFolio(trx, { propertyId, kind: 'house' }))
    done(await send(`folios/${id}/charges`, { category: 'spa', description: 'Massagem', unitAmount: 4_000 }), 201)
    const money = { method: 'bank_transfer', amount: 4_000, currency: 'BRL', propertyId, cashAccountId: bankId }
    done(await send('payments/record', { ...money, targetType: 'folio', targetId: id }), 201)
    return id
  }

  before(async () => {
    house = await makeHouse({ units: 1 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
    bankId = await house.inHouse(async (trx) => {
      await sql(trx, `update book set document = '11222333000181' where id = ?`, [house.bookId])
      return createCashAccount(trx, { kind: 'bank', code: 'BANK', name: 'Bank', propertyId: house.propertyId })
    })
    done(await owner.send('PUT', 'accounts-receivable/settings', { fiscal }))
  })

  it('is requested as the folio closes; what is missing of its payer keeps nothing from closing, and is mended', async () => {
    const folioId = await folio()
    const [early, refusal] = [
      await send('accounts-receivable/fiscal-documents', { folioId }),
      (reply: Parsed) => [reply.status, reply.body.code],
    ]
    expect(refusal(early)).to.deep.equal([409, 'invalid_transition'])
    expect(done(await send(`folios/${folioId}/close`)).status).to.equal('closed')
    const rejected = await one(folioId)
    expect(rejected).to.include({ status: 'rejected', rpsNumber: null, total: 4_000 })
    expect(rejected.rejection).to.deep.equal({ code: 'taker_incomplete', message: 'taker.name' })
    const guestId = await house.inHouse(async (trx) => {
      const id = await createGuest(trx, {
        firstName: 'Ana',
        lastName: 'Souza',
        email: 'ana@casa.example',
        source: 'staff',
      })
      await addDocument(trx, id, { kind: 'cpf', countryCode: 'BR', number: '529.982.247-25' })
      await sql(trx, `update folio set payer_guest_id = ? where id = ?`, [id, folioId])
      return id
    })
    expect(guestId).to.be.a('string')
    done(await send(`accounts-receivable/fiscal-documents/${rejected.id}/retry`))
    const authorised = await one(folioId)
    expect(authorised).to.include({ status: 'authorised', rpsNumber: 1, folioId, propertyId: house.propertyId })
    expect(authorised.snapshot.taker).to.include({
      name: 'Ana Souza',
      document: '52998224725',
      email: 'ana@casa.example',
    })
    expect(authorised.snapshot.amounts).to.include({ total: 4_000, iss: 120 })
    expect(refusal(await send('accounts-receivable/fiscal-documents', { folioId }))).to.deep.equal([
      422,
      'fiscal_document_alive',
    ])
  })

  it('is left to people where the book does not request by itself', async () => {
    done(await owner.send('PUT', 'accounts-receivable/settings', { fiscal: { automatic: false } }))
    const folioId = await folio()
    done(await send(`folios/${folioId}/close`))
    await world.drain()
    const { data } = done(await owner.get(`accounts-receivable/fiscal-documents?folioId=${folioId}`))
    expect(data).to.deep.equal([])
  })
})
