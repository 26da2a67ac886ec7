export const given = JSON.parse(process.env.LETHE_E2E_GIVEN);
