import { satisfactionIssue } from '../../config/derived-secrets.ts'
import { conflict, notFound } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { enterTenant } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../lib/connection.ts'
import { reopen, reopensWithin } from './moves.ts'
import { lockIssue, note, tell, writeIssue } from './state.ts'
import { openForScore } from './system.ts'
import { openText, sealText } from './texts.ts'

export type Answer = { score: number; comment?: string | undefined }

const goodForMs = 30 * 86_400_000
const changeableMs = 86_400_000
const bad = 2

/**
 * Records a guest's answer (R17). A bad one opens a resolved issue again; after the closing, or when it is too late for that, it makes a complaint about the
 * staff. It may be changed for a day: later the same answer changes nothing, and another is 409 `already_answered`. An issue that was opened again and resolved
 * anew is answered anew. 404 where the issue was resolved more than 30 days ago.
 */
const record = async (trx: Trx, issueId: string, { score, comment = '' }: Answer): Promise<void> => {
  const held = await lockIssue(trx, issueId)
  const ended = held.resolvedAt ?? held.scoredAt
  if (ended === null || held.now.getTime() - ended.getTime() > goodForMs) throw notFound()
  await audit(trx, { action: 'public.issues.satisfaction', subjectType: 'Issue', subjectId: issueId })
  // A text that is left out is the one that was given.
  const said = comment === '' ? null : await openText(trx, 'score', issueId, held.scoreSealed)
  const isSame = held.score === score && (said === null ? comment === '' : said.text === comment)
  const answeredAt =
    held.scoredAt !== null && held.scoredAt >= (held.resolvedAt ?? held.scoredAt) ? held.scoredAt : null
  if (answeredAt !== null && held.now.getTime() - answeredAt.getTime() > changeableMs && !isSame)
    throw conflict('already_answered', 'This was answered before')
  if (isSame && answeredAt !== null) return
  const after = await writeIssue(trx, held, {
    score,
    scoreSealed: comment === '' ? null : await sealText(trx, 'score', issueId, { text: comment }),
    scoredAt: answeredAt ?? held.now,
  })
  await note(trx, issueId, { command: 'score', from: held.status, to: held.status, changes: ['score'] })
  await tell(trx, 'scored', after, { score })
  if (score > bad) return
  if (after.status === 'resolved' && (await reopensWithin(trx, after)).isDue) await reopen(trx, after, null)
  else if (after.status === 'resolved' || after.status === 'closed') await openForScore(trx, after, score)
}

/** Takes the answer of the guest who holds the token, as the first step of a transaction without a tenant. Wrong and expired tokens are one 404. */
export const answerSatisfaction = async (trx: AnyTrx, token: string, answer: Answer): Promise<void> => {
  const named = satisfactionIssue(token)
  if (!named) throw notFound()
  await record(
    await enterTenant(trx as PlatformTrx, named.tenantId, { type: 'guest', id: null }),
    named.issueId,
    answer,
  )
}
