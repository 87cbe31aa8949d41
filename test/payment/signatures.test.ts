import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { signSandbox, verifySandbox } from '../../db/payment/signatures.ts'

const body = (change: Record<string, unknown> = {}) =>
  Buffer.from(
    JSON.stringify({
      id: 'evt_1',
      type: 'charge.captured',
      account: 'sbx_1',
      object: 'charge',
      ref: 'ch_1',
      ourId: randomUUID(),
      ...change,
    }),
  )

const now = new Date('2026-11-20T12:00:00.000Z')
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const secrets = ['new', 'old']

describe('the signature of a callback', () => {
  it('is believed with every secret in rotation, and with no other', () => {
    const raw = body()
    for (const secret of secrets)
      expect(verifySandbox(signSandbox(raw, now, secret), raw, now, secrets)).to.include({ eventId: 'evt_1' })
    expect(verifySandbox(signSandbox(raw, now, 'other'), raw, now, secrets)).to.equal(null)
    expect(verifySandbox(signSandbox(raw, now, 'old'), raw, now, ['new'])).to.equal(null)
  })

  it('is good for 300 s on either side of now', () => {
    const raw = body()
    const signature = signSandbox(raw, now, 'new')
    for (const seconds of [-300, 0, 300])
      expect(verifySandbox(signature, raw, after(seconds), secrets), `${seconds}`).to.not.equal(null)
    for (const seconds of [-301, 301])
      expect(verifySandbox(signature, raw, after(seconds), secrets), `${seconds}`).to.equal(null)
  })

  it('covers every byte and the time', () => {
    const raw = body()
    const signature = signSandbox(raw, now, 'new')
    const changed = Buffer.from(raw)
    changed[10] = (changed[10] ?? 0) ^ 1
    expect(verifySandbox(signature, changed, now, secrets)).to.equal(null)
    expect(
      verifySandbox(signature.replace(/t=\d+/, `t=${Math.floor(now.getTime() / 1000) + 1}`), raw, now, secrets),
    ).to.equal(null)
  })

  for (const nonsense of [
    '',
    't=1',
    'v1=00',
    `t=1,v1=${'0'.repeat(63)}`,
    `t=x,v1=${'0'.repeat(64)}`,
    `t=1,v1=${'0'.repeat(64)},v1=x`,
  ])
    it(`that reads "${nonsense}" is refused`, () => {
      expect(verifySandbox(nonsense, body(), now, secrets)).to.equal(null)
    })

  for (const wrong of [{ id: '' }, { id: 5 }, { account: null }, { object: 'planet' }, { ref: 'x'.repeat(201) }])
    it(`over a body with ${JSON.stringify(wrong).slice(0, 40)} is not understood`, () => {
      const raw = body(wrong)
      expect(verifySandbox(signSandbox(raw, now, 'new'), raw, now, secrets)).to.equal(null)
    })

  it('over what is no JSON is not understood', () => {
    const raw = Buffer.from('no json')
    expect(verifySandbox(signSandbox(raw, now, 'new'), raw, now, secrets)).to.equal(null)
  })
})
