import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { receiveMessage } from '../../db/ocp/index.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { Reply } from '../support/client.ts'
import { makeConfirmed, useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'
import { makeConversation } from '../ocp/records.ts'

type Comment = { text: string; visibility: string; authorId: string | null; messageId: string | null }

describe('Answers of guests to issues', function () {
  this.timeout(60_000)
  const world = useWorld()
  const mail = useMailPeer()
  let house: House
  let owner: Desk
  let category: string
  let reservationId: string
  beforeEach(async () => {
    house = await makeHouse({ units: 3, deposit: null })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
    const { data } = (await owner.get('issues/categories?limit=100')).body
    category = data.find(({ code }: { code: string }) => code === 'noise').id
    const bookingId = await makeConfirmed(house, { from: 8, email: 'vera@example.com' })
    const [stay] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    reservationId = stay?.id ?? ''
    await world.drain()
    mail.peer.mails.splice(0)
  })

  const done = ({ status, body }: Reply, wanted = 200) => {
    expect(status, JSON.stringify(body)).to.equal(wanted)
    return body
  }
  const open = async (more: object) =>
    done(
      await owner.send('POST', 'issues', {
        propertyId: house.propertyId,
        categoryId: category,
        title: 'Loud music',
        ...more,
      }),
      201,
    )
  const read = async (id: string) => done(await owner.get(`issues/${id}`))
  const post = (id: string, verb: string, body: object) => owner.send('POST', `issues/${id}/${verb}`, body)
  const write = (text: string, more: object = {}) =>
    house.inHouse((trx) =>
      receiveMessage(trx, house.propertyId, 'email', {
        providerId: randomUUID(),
        from: 'vera@example.com',
        subject: 'Re: Your complaint',
        text,
        attachments: [],
        isOptOut: false,
        ...more,
      }),
    )
  const ofGuest = (comments: Comment[]) =>
    comments.filter(({ visibility, authorId }) => visibility === 'guest' && authorId === null).map(({ text }) => text)

  it('become comments of the issue that they are about, end its wait, and stand in one conversation', async () => {
    const issue = await open({ reservationId })
    done(await post(issue.id, 'comments', { text: 'Which room is it?', visibility: 'guest' }), 201)
    await world.drain()
    done(await post(issue.id, 'wait', { for: 'guest' }))
    const providerId = randomUUID()
    await Promise.all([write('The one above us', { providerId }), write('The one above us', { providerId })])
    const after = await read(issue.id)
    expect(ofGuest(after.comments)).to.deep.equal(['The one above us'])
    expect(after).to.include({ status: 'in_progress', waitingFor: null })
    expect(after.conversationId).to.be.a('string')
    expect(after.history.map(({ command }: { command: string }) => command)).to.include('start')
    mail.peer.mails.splice(0)
    const answered = done(await post(issue.id, 'comments', { text: 'They stop now', visibility: 'guest' }), 201)
    await world.drain()
    const [sent] = mail.peer.mails.filter(({ text }) => text.includes('They stop now'))
    expect([sent?.to.join(','), sent?.subject]).to.deep.equal(['vera@example.com', 'Re: Your complaint'])
    const messageId = answered.comments.at(-1).messageId
    const message = done(await owner.get(`ocp/messages/${messageId}`))
    expect(message).to.include({ conversationId: after.conversationId, issueId: issue.id })
    expect(done(await owner.get(`ocp/conversations?unanswered=true`)).data).to.deep.equal([])
    await write('Thank you')
    expect(ofGuest((await read(issue.id)).comments)).to.deep.equal(['The one above us', 'Thank you'])
  })

  it('are no comments of an issue that is closed, nor where the last message was about something else', async () => {
    const issue = await open({ reservationId })
    done(await post(issue.id, 'close', { outcome: 'withdrawn', reason: 'They took it back' }))
    await world.drain()
    await write('Too late')
    expect(ofGuest((await read(issue.id)).comments)).to.deep.equal([])
    const other = await open({ reservationId })
    await world.drain()
    done(
      await owner.send('POST', 'ocp/messages', {
        propertyId: house.propertyId,
        recipient: { name: 'Vera', email: 'vera@example.com' },
        text: { subject: 'Breakfast', text: 'When do you want it?' },
        plan: [{ channel: 'email', waitMinutes: 30 }],
      }),
      201,
    )
    await world.drain()
    await write('At eight')
    expect(ofGuest((await read(other.id)).comments)).to.deep.equal([])
    const [first] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from message where issue_id = ? limit 1`, [other.id]),
    )
    await write('And please hurry', { inReplyTo: `<${first?.id}.0@pousada.example>` })
    expect(ofGuest((await read(other.id)).comments)).to.deep.equal(['And please hurry'])
  })

  it('come from a conversation that an issue was opened of, whose guest it takes over', async () => {
    const guestId = (await read((await open({ reservationId })).id)).guestId as string
    const conversationId = await makeConversation(house, { kind: 'email', address: 'vera@example.com', guestId })
    const issue = await open({ conversationId })
    expect(issue).to.include({ conversationId, guestId })
    // Whichever profile of a guest a list is asked for, it is of all of them.
    const lost = done(
      await owner.send('POST', 'issues/lost-items', {
        propertyId: house.propertyId,
        direction: 'missed',
        category: 'electronics',
        description: 'A charger',
        guestId,
      }),
      201,
    )
    const survivor = done(await owner.send('POST', 'guests', { firstName: 'Vera', lastName: 'Lima' }), 201).id
    done(await owner.send('POST', `guests/${survivor}/merge`, { mergedGuestId: guestId, reason: 'One person' }))
    const stranger = done(await owner.send('POST', 'guests', { firstName: 'Vera', lastName: 'Luz' }), 201).id
    const listed = async (path: string, of: string): Promise<string[]> =>
      done(await owner.get(`${path}?guestId=${of}&limit=100`)).data.map(({ id }: { id: string }) => id)
    for (const [path, id] of [
      ['issues', issue.id],
      ['issues/lost-items', lost.id],
      ['ocp/conversations', conversationId],
    ] as const) {
      for (const of of [survivor, guestId]) expect(await listed(path, of), `${path} of ${of}`).to.include(id)
      expect(await listed(path, stranger), path).to.deep.equal([])
    }
    const messages = await listed('ocp/messages', guestId)
    expect(messages).to.not.have.length(0)
    expect(await listed('ocp/messages', survivor)).to.have.members(messages)
    const elsewhere = await makeHouse({ deposit: null })
    const foreign = await makeConversation(elsewhere, { kind: 'email', address: 'x@example.com' })
    expect((await owner.send('PATCH', `issues/${issue.id}`, { conversationId: foreign })).status).to.equal(422)
    await write('It is still loud')
    expect(ofGuest((await read(issue.id)).comments)).to.deep.equal(['It is still loud'])
    expect((await post(issue.id, 'comments', { text: 'x', visibility: 'guest' })).status).to.equal(201)
    done(
      await owner.send('POST', `ocp/suppressions`, { kind: 'email', address: 'vera@example.com', scope: 'all' }),
      201,
    )
    const refused = await post(issue.id, 'comments', { text: 'Hello?', visibility: 'guest' })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'recipient_suppressed'])
    expect((await read(issue.id)).comments.at(-1).text).to.equal('x')
  })

  it('and the end of an issue that meet leave one of both orders, and no half of it', async () => {
    const issue = await open({ reservationId })
    await world.drain()
    const rounds = await Promise.all([
      post(issue.id, 'resolve', { resolution: 'They stopped', cause: 'guest' }),
      ...Array.from({ length: 8 }, (_, at) => write(`Word ${at}`)),
    ])
    expect((rounds[0] as { status: number }).status).to.equal(200)
    const after = await read(issue.id)
    expect(after.status).to.equal('resolved')
    expect(ofGuest(after.comments).toSorted()).to.deep.equal(Array.from({ length: 8 }, (_, at) => `Word ${at}`))
    const open_ = done(await owner.get('ocp/conversations?status=open')).data
    expect(open_).to.have.length(1)
  })
})
