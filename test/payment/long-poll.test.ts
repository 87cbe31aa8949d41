import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { waitUntil } from '../../api/lib/long-poll.ts'
import { useGuests } from './guests.ts'

describe('a guest who waits for the outcome', () => {
  const { world, hold, create, status } = useGuests()

  it('is for 200 at once; all others are answered at once', async () => {
    // As of requests: each has its own.
    const clients = Array.from({ length: 250 }, () => new AbortController())
    let reads = 0
    const read = () => Promise.resolve((reads += 1))
    const all = clients.map(({ signal }) => waitUntil(read, () => false, { seconds: 20, gone: signal }))
    const done = await Promise.all(all.map((one) => Promise.race([one.then(() => true), wait(100).then(() => false)])))
    expect(done.filter(Boolean)).to.have.length(50)
    expect(reads).to.equal(200)
    for (const client of clients) client.abort()
    await Promise.all(all)
    const free = Promise.race([
      waitUntil(read, () => false, { seconds: 1, gone: new AbortController().signal }).then(() => 'at once'),
      wait(200).then(() => 'waits'),
    ])
    expect(await free).to.equal('waits')
  })

  it('is answered when the status changes', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'card' })
    const waiting = status(guest, made.body.paymentId, '?waitSeconds=15&since=pending')
    await world.drain()
    expect((await waiting).body.status).to.equal('paid')
  })

  it('is answered when the time is over, and at once where the status is another already', async function () {
    this.timeout(20_000)
    const { guest } = await hold()
    const made = await create(guest, { method: 'card' })
    expect((await status(guest, made.body.paymentId, '?waitSeconds=1&since=pending')).body.status).to.equal('pending')
    // Either would outlast the time that a test has.
    await status(guest, made.body.paymentId, '?waitSeconds=20&since=paid')
    await status(guest, made.body.paymentId, '?waitSeconds=20')
  })

  it('longer than 20 s, or since nonsense, is refused', async () => {
    const { guest } = await hold()
    for (const query of ['?waitSeconds=21&since=pending', '?since=created', '?waitSeconds=-1', '?wait=1'])
      expect((await status(guest, randomUUID(), query)).status, query).to.equal(400)
  })
})
