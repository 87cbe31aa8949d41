import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { chargesOfReceivables, registerPixCharges } from '../../db/accounts-receivable/index.ts'
import type { PixCode } from '../../db/accounts-receivable/sending/pix.ts'
import type { Parsed } from '../support/client.ts'
import { useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'
import type { Receivables } from './desk.ts'

describe('sending an invoice', function () {
  this.timeout(120_000)
  const world = useWorld()
  const mail = useMailPeer()
  let a: Receivables
  beforeEach(async () => {
    a = await openReceivables(world)
    await a.property()
  })

  const statusOf = async (id: string) => {
    const [row] = await a.rows<{ status: string }>(`select status from receivable_sending where id = :id`, { id })
    return row?.status
  }

  it('writes to the customer in their language what is open, once, and tells that it was sent', async () => {
    const receivableId = await a.issued(await a.customer({ email: 'contas@mar.example', language: 'pt-BR' }), [
      [a.day(10), 100_000],
      [a.day(40), 50_050],
    ])
    const sending = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
      channels: ['email'],
      message: 'Obrigado pela visita.',
    })
    expect(sending).to.include({ receivableId, status: 'queued', withPix: false })
    await world.drain()
    expect(mail.peer.mails).to.have.length(1)
    const [{ subject, text, to } = { subject: '', text: '', to: [''] }] = mail.peer.mails
    expect(to).to.deep.equal(['contas@mar.example'])
    expect(subject).to.match(/^Fatura/)
    expect(text).to.include('Obrigado pela visita.').and.include('1.500,50').and.include('500,50')
    expect(await statusOf(sending.id)).to.equal('sent')
    const [row] = await a.rows<{ sent: boolean; events: string }>(
      `select sent_at is not null and sent_to is not null as sent,
         (select count(*) from event where type = 'receivable.sent' and entity->>'id' = cast(r.id as text)) as events from receivable r where id = :receivableId`,
      { receivableId },
    )
    expect([row?.sent, Number(row?.events)]).to.deep.equal([true, 1])
    await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
      channels: ['email'],
      to: 'chefe@mar.example',
    })
    await world.drain()
    expect(mail.peer.mails.map((one) => one.to[0])).to.deep.equal(['contas@mar.example', 'chefe@mar.example'])
  })

  it('is refused without an address, with one of another channel, and for what is not issued', async () => {
    const silent = await a.issued(await a.customer({ email: null }), [[a.day(10), 1_000]])
    const refused = (id: string, body: object) => a.refused(a.finance, 'POST', `receivables/${id}/send`, body)
    expect(await refused(silent, { channels: ['email'] })).to.deep.equal([422, 'recipient_missing'])
    expect(await refused(silent, { channels: ['email'], to: '+5524999990001' })).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(await refused(silent, { channels: ['whatsapp'], to: '12345' })).to.deep.equal([400, 'validation_failed'])
    await a.rows(`update receivable set status = 'void', voided_on = current_date where id = :silent`, { silent })
    expect(await refused(silent, { channels: ['email'], to: 'x@y.example' })).to.deep.equal([409, 'invalid_transition'])
  })

  it('does not leave once the document is void', async () => {
    const receivableId = await a.issued(await a.customer(), [[a.day(10), 1_000]])
    const { id } = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, { channels: ['email'] })
    await world.drain({ kinds: ['messages.send-receivable'] })
    await a.rows(`update receivable set status = 'void', voided_on = current_date where id = :receivableId`, {
      receivableId,
    })
    await world.drain()
    expect(mail.peer.mails).to.deep.equal([])
    expect(await statusOf(id)).to.equal('failed')
  })

  describe('with Pix', () => {
    const bank: { codes: PixCode[]; asked: number } = { codes: [], asked: 0 }
    before(() =>
      registerPixCharges({
        request: (_, __, most) => {
          bank.asked = most
          return Promise.resolve()
        },
        codes: () => Promise.resolve(bank.codes),
      }),
    )
    after(() => registerPixCharges(chargesOfReceivables))
    const send = async () => {
      const receivableId = await a.issued(await a.customer(), [[a.day(10), 1_000]])
      const [part] = await a.rows<{ id: string }>(
        `select id from receivable_installment where receivable_id = :receivableId`,
        { receivableId },
      )
      bank.codes = [{ installmentId: part?.id ?? '', code: null, isOver: false }]
      const sending = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
        channels: ['email'],
        withPix: true,
      })
      return { part: part?.id ?? '', id: sending.id as string }
    }

    it('waits for codes that the bank has not made, and carries them', async () => {
      const { part, id } = await send()
      expect(bank.asked).to.equal(12)
      await world.drain()
      expect([await statusOf(id), mail.peer.mails.length]).to.deep.equal(['queued', 0])
      bank.codes = [{ installmentId: part, code: '00020126PIX', isOver: false }]
      await world.drain({ aheadMs: 6_000 })
      expect(mail.peer.mails[0]?.text).to.include('00020126PIX')
      expect(await statusOf(id)).to.equal('sent')
    })

    it('goes without them after two minutes', async () => {
      const { id } = await send()
      await world.drain()
      await a.rows(`update receivable_sending set pix_until = now() where id = :id`, { id })
      await world.drain({ aheadMs: 6_000 })
      expect(mail.peer.mails).to.have.length(1)
      expect(mail.peer.mails[0]?.text).not.to.match(/\bPix\b/)
      expect(await statusOf(id)).to.equal('sent')
    })
  })

  it('asks the bank of the house for charges, and carries their codes', async () => {
    const customerId = await a.customer()
    await a.rows(`update property set book_id = :bookId where id = :house`, { house: a.house.propertyId })
    await a.rows(`update customer set document = '11444777000161' where id = :customerId`, { customerId })
    const receivableId = await a.issued(customerId, [
      [a.day(-3), 1_000],
      [a.day(20), 2_000],
    ])
    const send = (body: object) => a.send(a.finance, 'POST', `receivables/${receivableId}/send`, body)
    const withPix = { channels: ['email'], withPix: true }
    const [status, reply] = await send(withPix)
    expect([status, reply.code]).to.deep.equal([422, 'pix_not_ready'])
    const cash = async (desk: typeof a.owner, method: string, path: string, body: object): Promise<Parsed> => {
      const answer = await desk.send(method, `cash/${path}`, body, { idempotencyKey: randomUUID() })
      expect(answer.status, JSON.stringify(answer.body)).to.be.below(300)
      return answer.body
    }
    const bank = await cash(a.finance, 'POST', 'accounts', {
      kind: 'bank',
      code: 'PIX',
      name: 'Banco',
      bookId: a.bookId,
    })
    await cash(a.owner, 'PUT', `accounts/${bank.id}/pix`, {
      keys: [{ type: 'random', key: '123e4567-e12b-42d1-a456-426655440000' }],
      connection: { provider: 'sandbox', credentials: { clientId: 'pousada', clientSecret: 'right' } },
    })
    await world.drain()
    const [, sending] = await send(withPix)
    await world.drain({ aheadMs: 6_000 })
    expect(await statusOf(sending.id)).to.equal('sent')
    const codes = await a.rows<{ code: string; dueOn: string }>(
      `select br_code as code, to_char(due_on, 'YYYY-MM-DD') as "dueOn" from pix_charge where target_id = :receivableId order by due_on`,
      { receivableId },
    )
    expect(codes.map(({ dueOn }) => dueOn)).to.deep.equal([a.day(0), a.day(20)])
    const mine = mail.peer.mails.find(({ to }) => to[0] === 'ok@firma.example')
    for (const { code } of codes) expect(mine?.text).to.include(code)
    // Charges that stand are not made again.
    await send(withPix)
    await world.drain()
    expect(await a.rows(`select id from pix_charge where target_id = :receivableId`, { receivableId })).to.have.length(
      2,
    )
    const { pixCharges } = await a.good(a.finance, 'GET', `receivables/${receivableId}`)
    expect((pixCharges as Parsed[]).map((charge) => charge.status)).to.deep.equal(['active', 'active'])
    const { data } = await a.good(a.finance, 'GET', `installments?customerId=${customerId}`)
    expect((data as Parsed[]).map(({ id, pixChargeId }) => [id, pixChargeId])).to.deep.equal(
      (pixCharges as Parsed[]).map((charge) => [charge.installmentId, charge.id]),
    )
  })
})
