import type { IssueDetail, IssueShown } from '../../db/issues/index.ts'
import type { Admission } from '../lib/caller.ts'

/** Roles that do not read guests see neither guest nor stay of an issue. */
export const showListed = <Shown extends IssueShown>(issue: Shown, admission: Admission): Shown =>
  admission.can('read', 'Guest')
    ? issue
    : { ...issue, guestId: null, guest: null, reservationId: null, conversationId: null, score: null }

/** Similar issues that the role may know of. */
const similarFor = (similar: IssueDetail['similar'], role: string | null) => {
  if (role !== 'housekeeper' && role !== 'maintenance' && role !== 'finance' && role !== 'stock') return similar
  return similar.filter(({ team, kind }) => team === role && (role === 'finance' || kind !== 'complaint'))
}

/** An issue for a role: without its guest or its compensations where the role does not read those. */
export const showIssue = (issue: IssueDetail, admission: Admission) => {
  const shown = showListed(issue, admission)
  return {
    ...shown,
    similar: similarFor(shown.similar, admission.role),
    compensations: admission.can('read', 'Compensation') ? shown.compensations : [],
    ...(admission.can('read', 'Guest')
      ? {}
      : {
          scoreComment: null,
          affected: [],
          comments: shown.comments.filter((comment) => comment.visibility === 'internal'),
        }),
  }
}
