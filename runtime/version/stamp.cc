// What a build stamps on a program: BUILD_SCM_REVISION is what runtime/version/status prints.
extern const char kWeftBuildCommit[];
const char kWeftBuildCommit[] = BUILD_SCM_REVISION;
