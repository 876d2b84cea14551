"""smolagents with a picture of the user: CHART STEPS. Every step repeats the picture."""
import sys
from PIL import Image
from smolagents import OpenAIModel, ToolCallingAgent

model = OpenAIModel(model_id="gpt-4o")
agent = ToolCallingAgent(tools=[], model=model, max_steps=int(sys.argv[2]))
print(agent.run("Which colors are these?", images=[Image.open(sys.argv[1])]))
