import { pathSchema } from '../api/lib/input.ts'
import { sealDocument } from '../api/lib/document.ts'
import { routes } from '../api/routes.ts'
import { assertCompilable } from '../config/validator.ts'
import { jobs } from '../jobs/all.ts'

/** The last step of a build: proves that routes, permissions and document agree and, with `--proves`, that every schema compiles. */
if (process.argv.includes('--proves'))
  assertCompilable([
    ...routes.flatMap((route) =>
      [pathSchema(route), route.query, route.body, route.returns].filter((one) => one !== undefined),
    ),
    ...jobs.map(({ payload }) => payload),
  ])
sealDocument(routes, new URL('../api/', import.meta.url))
