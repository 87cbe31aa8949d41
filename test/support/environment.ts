import './variables.ts'
import { settings } from '../../config/env.ts'
import { startServices, testRedisUrl } from './services.ts'

// Before any test file is read, so that nothing sees the settings without them.
await startServices()
settings.redisUrl = testRedisUrl()
// A machine that is busy with tests makes Redis seem slow, and each process counts for itself then. What hangs it says how long it waits.
settings.redisPatienceMs = 1_500
// A hundred requests at once take turns at ten connections.
settings.databasePatienceMs = 30_000
// They queue for the same records, too. Tests of the end of this patience have less of it (patience.ts).
settings.lockPatienceMs = 30_000
// Nearly each test makes users and signs in. Those whose matter is the cost of hashing take that of production (hashing-work.ts).
settings.passwordMemoryKib = 8
settings.passwordPasses = 1
