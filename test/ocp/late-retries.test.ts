import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { retryMessage } from '../../db/ocp/index.ts'
import { eraseOldContents } from '../../db/ocp/erase-contents.ts'
import { deliverAll, useMailHouse } from '../support/messages.ts'

describe('a message that was made long before it was due', () => {
  const mail = useMailHouse()

  /** One that failed, made and due so many days ago, and all erased that is older than thirty days. */
  const failed = async (made: number, due: number): Promise<string> => {
    const id = (await mail.queue()) ?? ''
    await mail.house.inHouse(async (trx) => {
      await sql(trx, `update property set settings = jsonb_set(settings, '{messages}', '{"keepContentDays": 30}')`)
      await sql(
        trx,
        `update message set status = 'failed', reason = 'smtp_550', created_at = now() - make_interval(days => ?), scheduled_for = now() - make_interval(days => ?)
         where id = ?`,
        [made, due, id],
      )
      while ((await eraseOldContents(trx)) > 0);
    })
    return id
  }
  const again = (id: string) => mail.house.inHouse((trx) => retryMessage(trx, id, undefined))

  it('can be sent again for thirty days after that, to the address that it was made for', async () => {
    const id = await failed(60, 1)
    await again(id)
    await deliverAll()
    expect(mail.peer.mails.map(({ to }) => to)).to.deep.equal([['ana@example.com']])
  })

  it('cannot be sent again later, and keeps no address', async () => {
    const id = await failed(90, 31)
    expect(await again(id).catch((error: unknown) => error)).to.include({ code: 'invalid_transition' })
    const [row] = await mail.house.inHouse((trx) => sql(trx, `select recipient from message where id = ?`, [id]))
    expect(row).to.deep.equal({ recipient: null })
  })
})
